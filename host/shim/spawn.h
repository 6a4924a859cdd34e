/* Starts processes with vfork, which copies no page tables. */
#ifndef PLEXUS_SPAWN_H
#define PLEXUS_SPAWN_H

#include "buffer.h"

enum { SPAWN_FDS = 5 };

struct spawn {
    char *const *argv;      /* argv[0] is also the file */
    const struct buffer *environment; /* `KEY=value\0`, repeated */
    int fds[SPAWN_FDS];     /* become descriptors 0 to 4; -1 in the last two places: no such descriptor. The last is not 3 */
    const char *directory;  /* working directory; NULL: the shim's */
    const char *selinux_context; /* of the process from its execve on; NULL: the policy's rule decides */
    bool dies_with_parent;  /* gets SIGKILL when the shim ends for any reason */
};

/*
 * The process leads its own process group, has every signal unblocked and at its default, and inherits no descriptor but `fds`. Answers its
 * pid, or -1 with the errno of the step that failed, execve included.
 */
pid_t spawn(const struct spawn *spawn);

/* Opens an anonymous file in memory; `name` appears in /proc alone. -1: errno. */
int memory_file(const char *name);

/* Closes all descriptors from `first` on. */
void close_from(int first);

#endif
