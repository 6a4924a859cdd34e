/* A file system in memory that no path of the node leads to. */
#ifndef PLEXUS_PRIVATE_TMPFS_H
#define PLEXUS_PRIVATE_TMPFS_H

#include "common.h"

/*
 * Answers a descriptor (O_PATH) of the root directory of a new tmpfs, which belongs to this user alone, or -1 with errno. The tmpfs is mounted
 * nowhere: other processes reach it through this process' /proc/PID/fd alone, for which they need all of this process' capabilities. It is
 * gone when the last descriptor of it is closed, also where this process is killed.
 */
int open_private_tmpfs(void);

#endif
