#include "namespace.h"

#include <sys/vfs.h>

#define NSFS 0x6e736673 /* NSFS_MAGIC of linux/magic.h */

/* O_PATH finds the file and calls no driver. Symbolic links are followed, because each path below /proc is one. */
static int find_namespace(const char *path, struct stat *status) {
    struct statfs system;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0 || (fstatfs(fd, &system) == 0 && (uint32_t)system.f_type == NSFS && fstat(fd, status) == 0)) return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

/* The namespace's type is left to setns(2) and to netlink, which check it themselves. */
int open_namespace(struct bytes path, bool *is_own) {
    char text[PATH_MAX];
    struct stat own, found;
    int size = snprintf(text, sizeof text, "%.*s", (int)path.size, (const char *)path.data);
    errno = ENAMETOOLONG;
    int place = size >= PATH_MAX ? -1 : find_namespace(text, &found);
    if (place < 0) return -1;
    *is_own = stat(OWN_NAMESPACE, &own) == 0 && found.st_dev == own.st_dev && found.st_ino == own.st_ino;
    snprintf(text, sizeof text, "/proc/self/fd/%d", place); /* the same file, whatever the path leads to now */
    int fd = open(text, O_RDONLY | O_CLOEXEC), error = errno;
    close(place);
    errno = error;
    return fd;
}
