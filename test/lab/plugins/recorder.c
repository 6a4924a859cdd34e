/* The recorder: a CNI plugin that records its calls and answers as a script says.

   It appends one line to "<binary>.log" (see record.h) and then looks into the directory "<binary>.script" for
     VERB.N.out  VERB.N.err  VERB.N.exit  VERB.N.sleep-ms  VERB.N.held  VERB.N.kill     for the Nth call of that verb, else
     VERB.out    VERB.err    VERB.exit    VERB.sleep-ms    VERB.held    VERB.kill       for every call:
   the bytes for stdout and stderr, the exit status, a pause before the answer, a file whose removal the recorder awaits before
   the answer, a signal that kills the recorder. It writes
   VERB.device-info to the file that the configuration names as runtimeConfig.CNIDeviceInfoFile. If the script has neither
   `out` nor `exit` for a verb, it answers as a well-behaved plugin that does nothing. */
#include "record.h"

static char script[PATH_MAX + 16];

/* The number of this verb's calls, including this call: the size of a file that grows by a byte with each call. */
static long count_call(const char *verb) {
  char path[PATH_MAX + 64];
  snprintf(path, sizeof path, "%s/%s.calls", script, verb);
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return 1; /* no script directory */
  flock(fd, LOCK_EX);
  struct stat status;
  if (write(fd, ".", 1) != 1 || fstat(fd, &status) != 0) die(path);
  close(fd);
  return (long)status.st_size;
}

static int scripted(struct buffer *into, const char *verb, long call, const char *part) {
  char path[PATH_MAX + 64];
  snprintf(path, sizeof path, "%s/%s.%ld.%s", script, verb, call, part);
  if (append_file(into, path)) return 1;
  snprintf(path, sizeof path, "%s/%s.%s", script, verb, part);
  return append_file(into, path);
}

static long scripted_number(const char *verb, long call, const char *part, int *found) {
  struct buffer text = {0};
  *found = scripted(&text, verb, call, part);
  long value = text.bytes == NULL ? 0 : strtol(text.bytes, NULL, 10);
  free(text.bytes);
  return value;
}

static void pause_for(long ms) {
  struct timespec pause = {ms / 1000, (ms % 1000) * 1000000};
  while (nanosleep(&pause, &pause) != 0 && errno == EINTR) continue;
}

/* Waits while the file exists. A test's removal of its directory ends the wait, too. */
static void wait_while_held(const char *verb, long call) {
  char nth[PATH_MAX + 64], every[PATH_MAX + 64];
  snprintf(nth, sizeof nth, "%s/%s.%ld.held", script, verb, call);
  snprintf(every, sizeof every, "%s/%s.held", script, verb);
  while (access(nth, F_OK) == 0 || access(every, F_OK) == 0) pause_for(10);
}

/* Writes the device information file, as a device's plugin does. */
static void describe_device(const char *input, const char *verb, long call) {
  struct buffer info = {0};
  if (!scripted(&info, verb, call, "device-info")) return;
  char *config = input == NULL ? NULL : member(input, "runtimeConfig");
  char *path = config == NULL ? NULL : member(config, "CNIDeviceInfoFile");
  size_t length = path == NULL ? 0 : strlen(path);
  if (length < 3) die("no CNIDeviceInfoFile");
  path[length - 1] = '\0';
  int fd = open(path + 1, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) die(path + 1);
  write_all(fd, info.bytes, info.length);
  close(fd);
}

int main(int argc, char **argv) {
  struct buffer input = {0};
  append_all(&input, 0);
  record(argc, argv, &input);

  const char *verb = variable("CNI_COMMAND");
  snprintf(script, sizeof script, "%s.script", own_path);
  long call = count_call(verb);

  int paused, exits, killed;
  long pause_ms = scripted_number(verb, call, "sleep-ms", &paused);
  if (paused) pause_for(pause_ms);
  wait_while_held(verb, call);
  describe_device(input.bytes, verb, call);
  struct buffer err = {0};
  if (scripted(&err, verb, call, "err")) write_all(2, err.bytes == NULL ? "" : err.bytes, err.length);
  long signal_number = scripted_number(verb, call, "kill", &killed);
  long status = scripted_number(verb, call, "exit", &exits);
  struct buffer out = {0};
  int answered = scripted(&out, verb, call, "out");
  if (answered) write_all(1, out.bytes == NULL ? "" : out.bytes, out.length);
  else if (!exits && !killed) answer_well(&input);
  if (killed) raise((int)signal_number);
  return (int)status;
}
