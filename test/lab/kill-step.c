/* A native plugin between the steps of a chain that answers prevResult. If the file "<binary>.VERB.CONTAINER" exists, the plugin removes
   the file and sends SIGKILL to the process that the file names: "engine" (the other child of the parent), "shim" (the parent), or
   "both"; "pid:N" names a daemon. Then the plugin waits until the shim or the kernel kills it. With "fail" in the file the plugin kills no process and fails
   like a plugin whose backend is busy. */
#include "plugins/record.h"

/* Kills all children of the shim except this process. The engine is the only one, because steps run one at a time. */
static int kill_siblings(pid_t shim) {
  char path[64];
  int killed = 0;
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)shim, (int)shim);
  FILE *children = fopen(path, "r");
  if (children == NULL) die(path);
  for (int pid; fscanf(children, "%d", &pid) == 1;)
    if (pid != getpid() && kill(pid, SIGKILL) == 0) killed++;
  fclose(children);
  return killed;
}

int main(void) {
  struct buffer input = {0}, victim = {0};
  append_all(&input, 0);
  char path[PATH_MAX + 512];
  ssize_t own = readlink("/proc/self/exe", own_path, sizeof own_path - 1);
  if (own < 0) die("/proc/self/exe");
  own_path[own] = '\0';
  snprintf(path, sizeof path, "%s.%s.%s", own_path, variable("CNI_COMMAND"), variable("CNI_CONTAINERID"));
  if (!append_file(&victim, path)) {
    answer_well(&input);
    return 0;
  }
  pid_t shim = getppid();
  if (unlink(path) != 0) die(path);
  if (strcmp(victim.bytes, "fail") == 0) {
    puts("{\"code\":11,\"msg\":\"the backend is busy\"}");
    return 1;
  }
  if (strncmp(victim.bytes, "pid:", 4) == 0) {
    kill((pid_t)atoi(victim.bytes + 4), SIGKILL);
    alarm(20);
    for (;;) pause();
  }
  if (strcmp(victim.bytes, "both") == 0) kill(shim, SIGSTOP); /* Otherwise the shim could answer for the killed engine. */
  if (strcmp(victim.bytes, "shim") != 0 && kill_siblings(shim) != 1) {
    fprintf(stderr, "kill-step: the shim has not exactly one engine as a child\n");
    return 1;
  }
  if (strcmp(victim.bytes, "engine") != 0) kill(shim, SIGKILL);
  alarm(20);
  for (;;) pause();
}
