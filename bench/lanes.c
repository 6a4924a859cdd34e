/* Runs many programs at once and measures each, so that no figure includes the cost of starting a process from a JavaScript
   engine. It also makes the network namespaces that these programs need.

   `lanes run` reads NUL-terminated strings from stdin: the number of lanes, the number of items, then for each item the number
   of calls, and for each call the program, its stdin, the number of environment variables, and the variables. Each lane takes
   the next item and runs its calls one after the other; after a failed call it continues with the item's next call. At the end
   `lanes run` prints, for each call in the order of their ends, "<item> <call> <ns> <exit status> <CPU us> <stdout bytes>
   <stderr bytes>\n" and the two outputs, then "total <ns>\n". The CPU time includes all descendants that were waited for.

   `lanes namespaces PREFIX COUNT` makes network namespaces at PREFIX0, PREFIX1, ..., with the loopback up; `lanes remove PREFIX COUNT`
   removes them; `lanes look PREFIX COUNT` prints "<number> <link> <IPv4 address or ->\n" for each link of each, without loopback. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <sched.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct call {
  char *program, *input;
  char **environment;
};

struct item {
  struct call *calls;
  size_t count;
};

struct lane {
  pid_t child; /* 0: no program runs */
  size_t item, call;
  int64_t started;
  int output, errors;
};

static void die(const char *what) {
  fprintf(stderr, "lanes: %s: %s\n", what, strerror(errno));
  exit(2);
}

static void *zeroed(size_t count, size_t size) {
  void *memory = calloc(count == 0 ? 1 : count, size);
  if (memory == NULL) die("memory");
  return memory;
}

static char *next_text(void) {
  char *text = NULL;
  size_t capacity = 0;
  ssize_t length = getdelim(&text, &capacity, '\0', stdin);
  if (length < 1 || text[length - 1] != '\0') {
    fprintf(stderr, "lanes: stdin ended too early\n");
    exit(2);
  }
  return text;
}

static size_t next_number(void) {
  char *text = next_text();
  size_t number = strtoul(text, NULL, 10);
  free(text);
  return number;
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int memory_file(const char *content) {
  int fd = memfd_create("lanes", MFD_CLOEXEC);
  if (fd < 0) die("memfd_create");
  size_t length = strlen(content);
  if (length > 0 && (write(fd, content, length) != (ssize_t)length || lseek(fd, 0, SEEK_SET) != 0)) die("memfd");
  return fd;
}

static void start(struct lane *lane, const struct call *call) {
  int input = memory_file(call->input);
  lane->output = memory_file("");
  lane->errors = memory_file("");
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, 0);
  posix_spawn_file_actions_adddup2(&files, lane->output, 1);
  posix_spawn_file_actions_adddup2(&files, lane->errors, 2);
  char *argv[] = {call->program, NULL};
  lane->started = now();
  errno = posix_spawn(&lane->child, call->program, &files, NULL, argv, call->environment);
  if (errno != 0) die(call->program);
  posix_spawn_file_actions_destroy(&files);
  close(input);
}

/* Appends a file to the answer, which is printed at the end, so that its reader takes no CPU time from the programs. */
static void append(FILE *answer, int fd, off_t size) {
  char chunk[65536];
  if (lseek(fd, 0, SEEK_SET) != 0) die("lseek");
  for (off_t left = size; left > 0;) {
    ssize_t got = read(fd, chunk, sizeof chunk);
    if (got <= 0) die("reading an output");
    if (got > left) got = left;
    fwrite(chunk, 1, (size_t)got, answer);
    left -= got;
  }
  close(fd);
}

static int64_t microseconds(const struct rusage *used) {
  return (int64_t)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000000 + used->ru_utime.tv_usec + used->ru_stime.tv_usec;
}

static void ended(FILE *answer, struct lane *lane, int64_t at, int status, const struct rusage *used) {
  struct stat output, errors;
  if (fstat(lane->output, &output) != 0 || fstat(lane->errors, &errors) != 0) die("fstat");
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  fprintf(answer, "%zu %zu %lld %d %lld %lld %lld\n", lane->item, lane->call, (long long)(at - lane->started), code,
          (long long)microseconds(used), (long long)output.st_size, (long long)errors.st_size);
  append(answer, lane->output, output.st_size);
  append(answer, lane->errors, errors.st_size);
  lane->child = 0;
}

static int run(void) {
  size_t width = next_number(), count = next_number();
  struct item *items = zeroed(count, sizeof *items);
  for (size_t i = 0; i < count; i++) {
    items[i].count = next_number();
    items[i].calls = zeroed(items[i].count, sizeof *items[i].calls);
    for (size_t c = 0; c < items[i].count; c++) {
      struct call *call = &items[i].calls[c];
      call->program = next_text();
      call->input = next_text();
      size_t variables = next_number();
      call->environment = zeroed(variables + 1, sizeof *call->environment);
      for (size_t v = 0; v < variables; v++) call->environment[v] = next_text();
    }
  }
  struct lane *lanes = zeroed(width, sizeof *lanes);
  char *kept = NULL;
  size_t size = 0;
  FILE *answer = open_memstream(&kept, &size);
  if (answer == NULL) die("memory");
  size_t taken = 0, running = 0;
  int64_t began = now();
  for (size_t l = 0; l < width && taken < count; l++) {
    lanes[l].item = taken++;
    start(&lanes[l], &items[lanes[l].item].calls[0]);
    running++;
  }
  while (running > 0) {
    int status;
    struct rusage used;
    pid_t child = wait4(-1, &status, 0, &used);
    int64_t at = now();
    if (child < 0) {
      if (errno == EINTR) continue;
      die("wait4");
    }
    struct lane *lane = lanes;
    while (lane < lanes + width && lane->child != child) lane++;
    if (lane == lanes + width) continue;
    ended(answer, lane, at, status, &used);
    if (++lane->call == items[lane->item].count) {
      lane->call = 0;
      if (taken == count) {
        running--;
        continue;
      }
      lane->item = taken++;
    }
    start(lane, &items[lane->item].calls[lane->call]);
  }
  fprintf(answer, "total %lld\n", (long long)(now() - began));
  fclose(answer);
  fwrite(kept, 1, size, stdout);
  return fflush(stdout) == 0 ? 0 : 2;
}

static void loopback_up(void) {
  struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) != 0) die("lo");
  close(fd);
}

static void make_namespace(const char *path) {
  int fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
  if (fd < 0) die(path);
  close(fd);
  if (unshare(CLONE_NEWNET) != 0) die("unshare");
  loopback_up();
  if (mount("/proc/self/ns/net", path, "none", MS_BIND, NULL) != 0) die(path);
}

static void remove_namespace(const char *path) {
  if (umount2(path, MNT_DETACH) != 0 && errno != EINVAL && errno != ENOENT) die(path);
  if (unlink(path) != 0 && errno != ENOENT) die(path);
}

static const char *address_of(const struct ifaddrs *all, const char *name, char *text) {
  for (const struct ifaddrs *each = all; each != NULL; each = each->ifa_next) {
    if (each->ifa_addr == NULL || each->ifa_addr->sa_family != AF_INET || strcmp(each->ifa_name, name) != 0) continue;
    struct sockaddr_in address;
    memcpy(&address, each->ifa_addr, sizeof address);
    return inet_ntop(AF_INET, &address.sin_addr, text, INET_ADDRSTRLEN);
  }
  return "-";
}

static void look(const char *path, int number) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || setns(fd, CLONE_NEWNET) != 0) die(path);
  close(fd);
  struct ifaddrs *addresses;
  struct if_nameindex *links = if_nameindex();
  if (links == NULL || getifaddrs(&addresses) != 0) die(path);
  char text[INET_ADDRSTRLEN];
  for (struct if_nameindex *link = links; link->if_index != 0; link++)
    if (strcmp(link->if_name, "lo") != 0)
      printf("%d %s %s\n", number, link->if_name, address_of(addresses, link->if_name, text));
  freeifaddrs(addresses);
  if_freenameindex(links);
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "run") == 0) return run();
  if (argc != 4) {
    fprintf(stderr, "lanes: run | namespaces PREFIX COUNT | remove PREFIX COUNT | look PREFIX COUNT\n");
    return 2;
  }
  for (int number = 0; number < atoi(argv[3]); number++) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s%d", argv[2], number);
    if (strcmp(argv[1], "namespaces") == 0) make_namespace(path);
    else if (strcmp(argv[1], "remove") == 0) remove_namespace(path);
    else look(path, number);
  }
  return 0;
}
