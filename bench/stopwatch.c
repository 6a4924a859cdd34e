/* Starts programs and measures them, so that no figure includes the cost of starting a process from a JavaScript engine.

   Reads job directories from stdin, one per line, and answers each with "<nanoseconds> <exit status>\n". A job directory
   holds `argv` and `env` (each ended by a NUL) and `stdin`; the program's stdout goes to its file `stdout`, its stderr to
   `stderr`. The time is from before the spawn until the process has been waited for. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void die(const char *what) {
  fprintf(stderr, "stopwatch: %s: %s\n", what, strerror(errno));
  exit(2);
}

/* The NUL-terminated strings of a file, as a NULL-terminated array. */
static char **texts(const char *directory, const char *name) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (fd < 0 || fstat(fd, &status) != 0) die(path);
  size_t size = (size_t)status.st_size, count = 0;
  char *bytes = malloc(size + 1);
  if (bytes == NULL || read(fd, bytes, size) != (ssize_t)size) die(path);
  close(fd);
  for (size_t i = 0; i < size; i++) count += bytes[i] == '\0';
  char **list = calloc(count + 1, sizeof *list);
  if (list == NULL) die(path);
  char *next = bytes;
  for (size_t i = 0; i < count; i++) {
    list[i] = next;
    next += strlen(next) + 1;
  }
  return list;
}

int main(void) {
  char directory[PATH_MAX - 16];
  while (fgets(directory, sizeof directory, stdin) != NULL) {
    directory[strcspn(directory, "\n")] = '\0';
    char **argv = texts(directory, "argv"), **env = texts(directory, "env");
    char in[PATH_MAX], out[PATH_MAX], err[PATH_MAX];
    snprintf(in, sizeof in, "%s/stdin", directory);
    snprintf(out, sizeof out, "%s/stdout", directory);
    snprintf(err, sizeof err, "%s/stderr", directory);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, in, O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_addopen(&files, 2, err, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    struct timespec before, after;
    pid_t child;
    int status;
    clock_gettime(CLOCK_MONOTONIC, &before);
    errno = posix_spawn(&child, argv[0], &files, NULL, argv, env);
    if (errno != 0) die(argv[0]);
    while (waitpid(child, &status, 0) < 0)
      if (errno != EINTR) die("waitpid");
    clock_gettime(CLOCK_MONOTONIC, &after);
    posix_spawn_file_actions_destroy(&files);
    free(argv[0]);
    free(argv);
    free(env[0]);
    free(env);
    long long ns = (after.tv_sec - before.tv_sec) * 1000000000LL + (after.tv_nsec - before.tv_nsec);
    printf("%lld %d\n", ns, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    fflush(stdout);
  }
  return 0;
}
