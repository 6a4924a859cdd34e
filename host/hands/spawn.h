/* Starting a process without copying ours. */
#ifndef PLEXUS_SPAWN_H
#define PLEXUS_SPAWN_H

#include "buffer.h"

struct spawn {
    char *const *argv;      /* argv[0] is also the file */
    const struct buffer *environment; /* a row of `K=v\0` */
    int fds[4];             /* become 0, 1, 2, 3; a last one of -1: there is no 3 */
    const char *directory;  /* NULL: ours */
    bool dies_with_us;      /* SIGKILL when the hands die, however they die */
};

/* The process leads a process group of its own, has every signal at its default and unblocked, and inherits
   nothing but `fds`. -1: errno is what the start failed with, of execve too. */
pid_t spawn(const struct spawn *spawn);

/* A file that has a name in listings only. -1: errno. */
int memory_file(const char *name);

/* Closes every descriptor from `first` on. */
void close_from(int first);

#endif
