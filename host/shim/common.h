/* Headers of the libc, which is the shim's only library, and the shim's bounds. */
#ifndef PLEXUS_COMMON_H
#define PLEXUS_COMMON_H

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL /* headers before Linux 6.3 */
#define MFD_NOEXEC_SEAL 8u
#endif

#ifndef SO_NETNS_COOKIE /* headers before Linux 5.14 */
#define SO_NETNS_COOKIE 71
#endif

/* For a parameter that the callback's type requires and this callback ignores. */
#define UNUSED __attribute__((unused))

#include "bounds.h"

/* The structure of which `pointer` is the field `field`. */
#define HOLDER(type, field, pointer) ((type *)((char *)(pointer)-offsetof(type, field)))

#endif
