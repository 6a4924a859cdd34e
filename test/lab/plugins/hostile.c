/* Hostile plugins: the installed name of this program chooses its behaviour. Only the part before the first dot counts, so
   that several copies fit into one directory. It is hostile on ADD, or on the verbs that the file "<binary>.verbs" lists,
   and well-behaved otherwise. It records each call first (record.h), without stdin if its behaviour is not to read stdin. */
#include "record.h"

static void sleep_forever(void) {
  for (;;) pause();
}

static void print(const char *text) { write_all(1, text, strlen(text)); }

static void flood(int fd) {
  static char block[1 << 20];
  memset(block, 'x', sizeof block);
  for (int i = 0; i < 256; i++) write_all(fd, block, sizeof block);
}

/* Starts a daemon that keeps the plugin's stdout and stderr open for at most two minutes. Writes its pid to "<binary>.pid". */
static void leave_daemon(void) {
  pid_t child = fork();
  if (child < 0) die("fork");
  if (child == 0) {
    setsid();
    char path[PATH_MAX + 8];
    snprintf(path, sizeof path, "%s.pid", own_path);
    FILE *file = fopen(path, "w");
    if (file != NULL) {
      fprintf(file, "%d\n", (int)getpid());
      fclose(file);
    }
    for (int i = 0; i < 120; i++) sleep(1);
    _exit(0);
  }
}

static void print_nested_arrays(int depth) {
  print("{\"cniVersion\":\"1.1.0\",\"x\":");
  for (int i = 0; i < depth; i++) print("[");
  for (int i = 0; i < depth; i++) print("]");
  print("}");
}

static int hostile_now(const char *verb) {
  char path[PATH_MAX + 8];
  struct buffer verbs = {0};
  snprintf(path, sizeof path, "%s.verbs", own_path);
  if (!append_file(&verbs, path)) return strcmp(verb, "ADD") == 0;
  return verbs.bytes != NULL && strstr(verbs.bytes, verb) != NULL;
}

int main(int argc, char **argv) {
  struct buffer input = {0};
  record(argc, argv, &input);
  char name[PATH_MAX];
  snprintf(name, sizeof name, "%s", own_name());
  name[strcspn(name, ".")] = '\0';
  int is_hostile = hostile_now(variable("CNI_COMMAND"));
  if (!is_hostile || strcmp(name, "never-reads-stdin") != 0) append_all(&input, 0);
  if (!is_hostile) {
    answer_well(&input);
    return 0;
  }

#define IS(text) (strcmp(name, text) == 0)
  if (IS("never-reads-stdin")) {
    struct buffer out = {0};
    append_result(&out, "1.0.0");
    print(out.bytes);
  } else if (IS("never-ends")) {
    sleep_forever();
  } else if (IS("ignores-sigterm")) {
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    sleep_forever();
  } else if (IS("never-ends-with-children")) {
    if (fork() == 0) sleep_forever();
    sleep_forever();
  } else if (IS("floods-stdout")) {
    flood(1);
  } else if (IS("floods-stderr")) {
    flood(2);
    answer_well(&input);
  } else if (IS("leaves-daemon")) {
    leave_daemon();
    answer_well(&input);
  } else if (IS("json-then-garbage")) {
    answer_well(&input);
    print("\nand now for something completely different\n");
  } else if (IS("two-results")) {
    answer_well(&input);
    answer_well(&input);
  } else if (IS("error-with-success")) {
    print("{\"cniVersion\":\"1.0.0\",\"code\":7,\"msg\":\"an error that exits with 0\"}");
  } else if (IS("success-with-failure")) {
    answer_well(&input);
    return 1;
  } else if (IS("prints-nothing")) {
    return 0;
  } else if (IS("prints-null")) {
    print("null");
  } else if (IS("prints-array")) {
    print("[]");
  } else if (IS("prints-string")) {
    print("\"10.0.0.2\"");
  } else if (IS("prints-html")) {
    print("<html><body>502 Bad Gateway</body></html>");
  } else if (IS("prints-half")) {
    print("{\"cniVersion\":\"1.0.0\",\"ips\":[{\"addr");
  } else if (IS("wrong-version")) {
    print("{\"cniVersion\":\"9.9.9\",\"ips\":[]}");
  } else if (IS("version-of-number")) {
    print("{\"cniVersion\":110,\"ips\":[]}");
  } else if (IS("ips-of-string")) {
    print("{\"cniVersion\":\"1.0.0\",\"ips\":\"10.0.0.2/24\"}");
  } else if (IS("bad-address")) {
    print("{\"cniVersion\":\"1.0.0\",\"ips\":[{\"address\":\"10.0.0.256/24\"}]}");
  } else if (IS("bad-prefix")) {
    print("{\"cniVersion\":\"1.0.0\",\"ips\":[{\"address\":\"10.0.0.2/33\"}]}");
  } else if (IS("bad-route")) {
    print("{\"cniVersion\":\"1.0.0\",\"ips\":[{\"address\":\"10.0.0.2/24\"}],\"routes\":[{\"dst\":\"everywhere\"}]}");
  } else if (IS("invalid-utf8")) {
    static const char text[] = "{\"cniVersion\":\"1.0.0\",\"dns\":{\"domain\":\"\xff\xfe\"}}";
    write_all(1, text, sizeof text - 1);
  } else if (IS("deep-nesting")) {
    print_nested_arrays(100000);
  } else if (IS("prototype")) {
    print("{\"cniVersion\":\"1.0.0\",\"__proto__\":{\"polluted\":true},\"constructor\":{\"prototype\":{\"polluted\":true}},"
          "\"ips\":[{\"address\":\"10.0.0.2/24\"}]}");
  } else if (IS("fails-silently")) {
    return 1;
  } else if (IS("fails-on-stderr")) {
    dprintf(2, "the disk is on fire\n");
    return 3;
  } else if (IS("fails-with-text")) {
    print("panic: runtime error: index out of range\n");
    return 2;
  } else if (IS("fails-with-code")) {
    print("{\"cniVersion\":\"1.0.0\",\"code\":123,\"msg\":\"own code\",\"details\":\"own details\"}");
    return 1;
  } else if (IS("fails-with-escape")) {
    print("{\"code\":100,\"msg\":\"\\u001b]0;owned\\u0007\\u001b[31mred\\nsecond line\"}");
    return 1;
  } else if (IS("fails-with-code-of-text")) {
    print("{\"code\":\"seven\",\"msg\":[]}");
    return 1;
  } else if (IS("dies-of-signal")) {
    raise(SIGSEGV);
  } else if (IS("closes-stdout")) {
    close(1);
    close(2);
    sleep(1);
  } else {
    errno = EINVAL;
    die(name);
  }
  return 0;
}
