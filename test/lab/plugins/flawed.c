/* A correct IPAM plugin, or one with the defect that its file's name has after "flawed-", for tests of the conformance kit. With a prevResult
   it is a chained plugin. It expects compact JSON, as the kit prints it. Leases are files of `dataDir`. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char input[1 << 16];
static char version[32], data_dir[4096], owner[512];
static const char *flaw = "";

static int has_flaw(const char *name) { return strcmp(flaw, name) == 0; }

static const char *variable(const char *name) {
  const char *value = getenv(name);
  return value == NULL ? "" : value;
}

/* Copies the text after `key`, up to the next quote. */
static void text_of(const char *key, char *into, size_t size) {
  const char *from = strstr(input, key);
  into[0] = '\0';
  if (from == NULL) return;
  from += strlen(key);
  size_t length = strcspn(from, "\"");
  if (length < size) snprintf(into, size, "%.*s", (int)length, from);
}

static int is_known(const char *text) {
  return strstr(" 0.1.0 0.2.0 0.3.0 0.3.1 0.4.0 1.0.0 1.1.0 ", text) != NULL && strlen(text) == 5;
}

__attribute__((noreturn)) static void fail(int code, const char *message) {
  if (has_flaw("error-is-text")) {
    printf("error %d: %s\n", code, message);
  } else if (has_flaw("error-without-version")) {
    printf("{\"code\":%d,\"msg\":\"%s\"}\n", code, message);
  } else {
    printf("{\"cniVersion\":\"%s\",\"code\":%d,\"msg\":\"%s\"}\n", is_known(version) ? version : "1.1.0", code, message);
  }
  exit(1);
}

static void path_of(char *into, size_t size, const char *name) { snprintf(into, size, "%s/%s", data_dir, name); }

static void write_file(const char *name) {
  char path[8192];
  path_of(path, sizeof path, name);
  int fd = open(path, O_WRONLY | O_CREAT, 0644);
  if (fd >= 0) close(fd);
}

/* Calls `act` for each lease with its file's path and its owner. */
static void each_lease(void (*act)(const char *path, const char *held_by)) {
  DIR *directory = opendir(data_dir);
  if (directory == NULL) return;
  for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
    if (strncmp(entry->d_name, "10.", 3) != 0) continue;
    char path[8192], held_by[512];
    path_of(path, sizeof path, entry->d_name);
    int fd = open(path, O_RDONLY);
    if (fd < 0) continue;
    ssize_t length = read(fd, held_by, sizeof held_by - 1);
    close(fd);
    held_by[length < 0 ? 0 : length] = '\0';
    act(path, held_by);
  }
  closedir(directory);
}

static void release(const char *path, const char *held_by) {
  if (strcmp(held_by, owner) == 0 || has_flaw("del-removes-all")) unlink(path);
}

static void collect(const char *path, const char *held_by) {
  char valid[640];
  snprintf(valid, sizeof valid, "\"containerID\":\"%.*s\"", (int)strcspn(held_by, " "), held_by);
  if (strstr(input, valid) == NULL) unlink(path);
}

static int found;
static void count_own(const char *path, const char *held_by) {
  (void)path;
  if (strcmp(held_by, owner) == 0) found++;
}

static int leases;
static void count_lease(const char *path, const char *held_by) {
  (void)path, (void)held_by;
  leases++;
}

/* Waits until another DEL is refused. Leases of others tell that one may come; at most 10 s, for those that are deleted one by one. */
static void await_refusal(const char *refusal) {
  each_lease(count_lease);
  for (int waits = 0; leases > 1 && waits < 1000 && access(refusal, F_OK) != 0; waits++) usleep(10000);
  unlink(refusal);
}

static void print_result(int number) {
  const char *label = has_flaw("result-in-old-version") && strcmp(version, "1.1.0") == 0 ? "1.0.0" : version;
  if (has_flaw("prints-log")) printf("assigned 10.9.0.%d\n", number);
  if (strcmp(version, "0.3.0") < 0) {
    printf("{\"cniVersion\":\"%s\",\"ip4\":{\"ip\":\"10.9.0.%d/24\"}}\n", label, number);
  } else if (version[0] == '0' && !has_flaw("result-in-new-form")) {
    printf("{\"cniVersion\":\"%s\",\"ips\":[{\"version\":\"4\",\"address\":\"10.9.0.%d/24\"}]}\n", label, number);
  } else {
    printf("{\"cniVersion\":\"%s\",\"ips\":[{\"address\":\"10.9.0.%d/24\"}]}\n", label, number);
  }
  fflush(stdout);
  if (has_flaw("leaves-a-child") && fork() == 0) sleep(60);
}

static void add(void) {
  const char *previous = strstr(input, "\"prevResult\":");
  if (previous != NULL) {
    if (strstr(previous, "\"ips\":\"") != NULL && !has_flaw("accepts-any-result")) fail(6, "prevResult is no result");
    previous += strlen("\"prevResult\":");
    printf("%.*s\n", (int)strlen(previous) - 1, previous);
    return;
  }
  for (int number = 2; number < 250; number++) {
    char name[32], path[8192];
    snprintf(name, sizeof name, "10.9.0.%d", number);
    path_of(path, sizeof path, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
    if (fd < 0) continue;
    if (write(fd, owner, strlen(owner)) < 0) fail(5, "cannot write");
    close(fd);
    print_result(number);
    return;
  }
  fail(101, "no address is free");
}

static void del(void) {
  char path[8192], refusal[8192];
  path_of(path, sizeof path, "lock");
  if (has_flaw("del-refuses-to-wait")) {
    path_of(refusal, sizeof refusal, "refusal");
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
    if (fd < 0) {
      write_file("refusal");
      fail(11, "another DEL runs");
    }
    close(fd);
    await_refusal(refusal);
  }
  each_lease(release);
  if (has_flaw("del-refuses-to-wait")) unlink(path);
  if (has_flaw("del-prints")) printf("{}\n");
}

static void require_variables(int netns) {
  const char *id = variable("CNI_CONTAINERID");
  int code = has_flaw("variable-is-configuration") ? 7 : 4;
  if (*id == '\0' || *variable("CNI_IFNAME") == '\0' || (netns && *variable("CNI_NETNS") == '\0')) fail(code, "a variable is missing");
  if (strchr(id, '/') != NULL && !has_flaw("accepts-a-path")) fail(has_flaw("undefined-code") ? 30 : 4, "CNI_CONTAINERID is no ID");
  snprintf(owner, sizeof owner, "%s %s", strchr(id, '/') == NULL ? id : "path", variable("CNI_IFNAME"));
}

int main(int argc, char **argv) {
  const char *name = argc > 0 ? strstr(argv[0], "flawed-") : NULL;
  if (name != NULL) flaw = name + strlen("flawed-");
  size_t length = fread(input, 1, sizeof input - 1, stdin);
  while (length > 0 && (input[length - 1] == '\n' || input[length - 1] == ' ')) length--;
  input[length] = '\0';
  text_of("\"cniVersion\":\"", version, sizeof version);
  text_of("\"dataDir\":\"", data_dir, sizeof data_dir);
  const char *verb = variable("CNI_COMMAND");
  if (length == 0 || input[length - 1] != '}') fail(has_flaw("json-is-configuration") ? 7 : 6, "stdin is no JSON");
  if (strcmp(verb, "VERSION") == 0) {
    if (has_flaw("version-fails")) fail(100, "VERSION fails");
    printf("{\"cniVersion\":\"%s\",\"supportedVersions\":[\"0.1.0\",\"0.2.0\",\"0.3.0\",\"0.3.1\",\"0.4.0\",\"1.0.0\",\"1.1.0\"%s]}\n",
           has_flaw("version-is-own") ? "1.0.0" : version, has_flaw("version-is-invented") ? ",\"2.7.0\"" : "");
    return 0;
  }
  if (!is_known(version)) {
    if (!has_flaw("accepts-any-version")) fail(1, "the version is unknown");
    snprintf(version, sizeof version, "1.1.0");
  }
  if (strcmp(verb, "ADD") == 0) {
    require_variables(1);
    if (strstr(input, "\"invalid\":true") != NULL) fail(7, "invalid is set");
    add();
  } else if (strcmp(verb, "DEL") == 0) {
    require_variables(0);
    del();
  } else if (strcmp(verb, "CHECK") == 0) {
    require_variables(1);
    each_lease(count_own);
    if (found == 0 && data_dir[0] != '\0') fail(101, "no address is reserved");
    if (has_flaw("check-writes")) write_file("checked");
  } else if (strcmp(verb, "GC") == 0) {
    each_lease(collect);
  } else if (strcmp(verb, "STATUS") == 0) {
    if (strstr(input, "\"ready\":false") != NULL) fail(50, "not ready");
    if (has_flaw("status-writes")) write_file("status");
  } else {
    fail(has_flaw("verb-is-configuration") ? 7 : 4, "the verb is unknown");
  }
  return 0;
}
