#include "private-tmpfs.h"

#include <sys/mount.h>

/* <linux/mount.h> and <sys/mount.h> exclude each other in some libcs, and older headers lack these. */
#ifndef SYS_fsopen
#define SYS_fsopen 430
#define SYS_fsconfig 431
#define SYS_fsmount 432
#endif
enum { CLOSED_ON_EXEC = 1, SET_STRING = 1, CREATE = 6, NO_SUID = 2, NO_DEVICES = 4, NO_PROGRAMS = 8 };

/* Linux 5.2. Needs CAP_SYS_ADMIN in the user namespace that owns the mount namespace. */
static int mount_detached(void) {
    int context = (int)syscall(SYS_fsopen, "tmpfs", CLOSED_ON_EXEC), root = -1;
    if (context < 0) return -1;
    bool made = syscall(SYS_fsconfig, context, SET_STRING, "mode", "0700", 0) == 0 && syscall(SYS_fsconfig, context, CREATE, NULL, NULL, 0) == 0;
    if (made) root = (int)syscall(SYS_fsmount, context, CLOSED_ON_EXEC, NO_SUID | NO_DEVICES | NO_PROGRAMS);
    int error = errno;
    close(context);
    errno = error;
    return root;
}

/* A directory that every system has; in the child's mount namespace its own content is out of sight. */
static const char place[] = "/proc";

/* Runs in a child that shares the parent's descriptors, and has its own copy of the memory. Makes `slot` the tmpfs. */
static bool mount_into(int slot) {
    if (syscall(SYS_unshare, (long)CLONE_NEWNS) != 0 || syscall(SYS_mount, NULL, "/", NULL, (long)(MS_REC | MS_PRIVATE), NULL) != 0) return false;
    if (syscall(SYS_mount, "tmpfs", place, "tmpfs", (long)(MS_NOSUID | MS_NODEV | MS_NOEXEC), "mode=0700") != 0) return false;
    int root = open(place, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return root >= 0 && dup3(root, slot, O_CLOEXEC) == slot && close(root) == 0;
}

/* For kernels and seccomp filters without the above, and for user namespaces without a mount namespace of their own. */
static int mount_in_other_namespace(void) {
    int slot = open("/", O_PATH | O_CLOEXEC), status = 0;
    if (slot < 0) return -1;
    pid_t child = (pid_t)syscall(SYS_clone, (long)(CLONE_FILES | SIGCHLD), 0L, 0L, 0L, 0L);
    if (child == 0) _exit(mount_into(slot) ? 0 : errno > 0 && errno < 256 ? errno : EIO);
    int error = child < 0 ? errno : 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (child > 0 && status != 0) error = WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
    if (error == 0) return slot;
    close(slot);
    errno = error;
    return -1;
}

#ifdef NESTED_CALLS_PLACE
/* The build makes the engine's code cache without privileges, where no tmpfs can be mounted. No installed shim has this. */
static int open_ordinary_directory(void) {
    static int made;
    char path[PATH_MAX];
    snprintf(path, sizeof path, NESTED_CALLS_PLACE "/%d-%d", (int)getpid(), made++);
    return mkdirat(AT_FDCWD, path, 0700) == 0 ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
}
#endif

int open_private_tmpfs(void) {
    int root = mount_detached();
    if (root < 0) root = mount_in_other_namespace();
#ifdef NESTED_CALLS_PLACE
    if (root < 0) root = open_ordinary_directory();
#endif
    return root;
}
