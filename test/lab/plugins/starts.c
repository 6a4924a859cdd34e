/* Runs a program and records every execve of the program and its descendants. `starts FILE PROGRAM ARGUMENT…` appends to FILE
   a line with the path, as the kernel resolved it, of each successful execve, and exits with the program's status. ptrace
   traces every process from its first instruction, so that no execve is missed. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static void die(const char *what) {
  fprintf(stderr, "starts: %s: %s\n", what, strerror(errno));
  exit(125);
}

static void write_path(int file, pid_t process) {
  char link[64], line[PATH_MAX + 1];
  snprintf(link, sizeof link, "/proc/%d/exe", process);
  ssize_t size = readlink(link, line, PATH_MAX);
  if (size < 0) die(link);
  line[size] = '\n';
  if (write(file, line, (size_t)size + 1) != size + 1) die("writing");
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "starts: FILE PROGRAM ARGUMENT...\n");
    return 125;
  }
  int file = open(argv[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) die(argv[1]);
  pid_t program = fork();
  if (program < 0) die("fork");
  if (program == 0) {
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0 || raise(SIGSTOP) != 0) die("ptrace");
    execv(argv[2], argv + 2);
    die(argv[2]);
  }
  int status, ended = 125;
  if (waitpid(program, &status, 0) != program || !WIFSTOPPED(status)) die("waitpid");
  long options = PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
  if (ptrace(PTRACE_SETOPTIONS, program, NULL, options) != 0 || ptrace(PTRACE_CONT, program, NULL, 0) != 0) die("ptrace");
  for (pid_t process; (process = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR;) {
    if (process < 0) continue;
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
      if (process == program) ended = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      continue;
    }
    int event = status >> 16, number = WSTOPSIG(status);
    if (event == PTRACE_EVENT_EXEC) write_path(file, process);
    /* Stops caused by tracing (events, and the SIGSTOP of a new traced child) are not signals for the process. */
    ptrace(PTRACE_CONT, process, NULL, event != 0 || number == SIGSTOP ? 0 : number);
  }
  return ended;
}
