#include "one-shot-slot.h"
#include "run-directory.h"

/* Another user can neither hold a lock in the directory nor put a file into it. */
static int open_directory(void) {
    static char path[PATH_MAX];
    struct stat status;
    int error = slots_path(path, sizeof path);
    bool made = error == 0 && (make_private_directory(path) || errno == EEXIST);
    int fd = made ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (error != 0) errno = error;
    if (fd < 0 || (fstat(fd, &status) == 0 && status.st_uid == geteuid() && (status.st_mode & 0077) == 0)) return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

int take_slot(bool any) {
    int directory = open_directory(), error = directory < 0 ? errno : EAGAIN, fd = -1;
    for (int slot = any ? 0 : 1; slot < ENGINES_MAX && error == EAGAIN; slot++) {
        char name[4];
        snprintf(name, sizeof name, "%d", slot);
        fd = openat(directory, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) break;
        error = errno;
        if (fd >= 0) close(fd);
        fd = -1;
    }
    if (directory >= 0) close(directory);
    errno = error;
    return fd;
}
