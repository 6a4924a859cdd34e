/* A step that kills: it stands between the steps of a chain and passes prevResult on. Where the file
   "<binary>.VERB.CONTAINER" is there, it takes it away and sends SIGKILL to whom it names: "brain" (the other child of
   our parent), "hands" (our parent), "both". Then it waits for its own end, which is the hands' or the kernel's work.
   Where it says "fail", it kills nobody and fails, as a plugin does whose backend is busy. */
#include "../plugins/record.h"

/* All children of the hands but us: the brain is the only one, because steps run one at a time. */
static int kill_siblings(pid_t hands) {
  char path[64];
  int killed = 0;
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)hands, (int)hands);
  FILE *children = fopen(path, "r");
  if (children == NULL) die(path);
  for (int pid; fscanf(children, "%d", &pid) == 1;)
    if (pid != getpid() && kill(pid, SIGKILL) == 0) killed++;
  fclose(children);
  return killed;
}

int main(void) {
  struct buffer input = {0}, whom = {0};
  append_all(&input, 0);
  char path[PATH_MAX + 512];
  ssize_t own = readlink("/proc/self/exe", own_path, sizeof own_path - 1);
  if (own < 0) die("/proc/self/exe");
  own_path[own] = '\0';
  snprintf(path, sizeof path, "%s.%s.%s", own_path, variable("CNI_COMMAND"), variable("CNI_CONTAINERID"));
  if (!append_file(&whom, path)) {
    answer_well(&input);
    return 0;
  }
  pid_t hands = getppid();
  if (unlink(path) != 0) die(path);
  if (strcmp(whom.bytes, "fail") == 0) {
    puts("{\"code\":11,\"msg\":\"the backend is busy\"}");
    return 1;
  }
  if (strcmp(whom.bytes, "both") == 0) kill(hands, SIGSTOP); /* or they answer for the brain before it is their turn */
  if (strcmp(whom.bytes, "hands") != 0 && kill_siblings(hands) != 1) {
    fprintf(stderr, "kill-step: there is not exactly one brain\n");
    return 1;
  }
  if (strcmp(whom.bytes, "brain") != 0) kill(hands, SIGKILL);
  alarm(20);
  for (;;) pause();
}
