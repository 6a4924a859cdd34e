/* The files of the sandbox process: a root of its own that has the listed paths only, read-only. Needs Linux 5.12. */
#include "launcher.h"

/* <linux/mount.h> and <sys/mount.h> exclude each other in some libcs, and older headers lack these. */
enum { CLONE_TREE = 1, MOUNT_RDONLY = 1, MOUNT_NOSUID = 2, MOUNT_NODEV = 4, FROM_EMPTY_PATH = 4, EMPTY_PATH = 0x1000, RECURSIVE = 0x8000 };

struct mount_attributes {
    uint64_t set, clear, propagation, userns_fd;
};

/* A directory that every system has; its own content is out of sight afterwards. */
static const char base[] = "/proc";

const char *open_paths(struct jail *jail) {
    for (size_t i = 0; i < jail->path_count; i++) {
        jail->paths[i].fd = open(jail->paths[i].path, O_PATH | O_CLOEXEC);
        if (jail->paths[i].fd < 0) return jail->paths[i].path;
    }
    return NULL;
}

/* Makes the directories that lead to the relative `path`. */
static bool make_parents(const char *path) {
    char part[4096];
    if (strlen(path) >= sizeof part) return false;
    strcpy(part, path);
    for (char *slash = strchr(part, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(part, 0755) != 0 && errno != EEXIST) return false;
        *slash = '/';
    }
    return true;
}

static bool make_target(const char *path, bool is_directory) {
    struct stat status;
    if (!make_parents(path)) return false;
    if (stat(path, &status) == 0) return true;
    if (is_directory) return mkdir(path, 0755) == 0;
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) return false;
    close(fd);
    return true;
}

/* Shows the path in the new root, which is the current directory. */
static bool show(const struct readable *readable) {
    struct stat status;
    const char *target = readable->path + 1;
    if (fstat(readable->fd, &status) != 0 || !make_target(target, S_ISDIR(status.st_mode))) return false;
    int tree = (int)syscall(SYS_open_tree, readable->fd, "", CLONE_TREE | O_CLOEXEC | EMPTY_PATH | RECURSIVE);
    if (tree < 0) return false;
    bool moved = syscall(SYS_move_mount, tree, "", AT_FDCWD, target, FROM_EMPTY_PATH) == 0;
    close(tree);
    return moved;
}

static bool enter_root(const struct jail *jail) {
    if (syscall(SYS_mount, NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return false;
    if (syscall(SYS_mount, "tmpfs", base, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=64k,nr_inodes=512") != 0) return false;
    if (chdir(base) != 0) return false;
    for (size_t i = 0; i < jail->path_count; i++)
        if (!show(&jail->paths[i])) return false;
    struct mount_attributes attributes = {.set = MOUNT_RDONLY | MOUNT_NOSUID | MOUNT_NODEV};
    if (syscall(SYS_mount_setattr, AT_FDCWD, ".", RECURSIVE, &attributes, sizeof attributes) != 0) return false;
    /* The old root is stacked on the new one, and taken away. */
    return syscall(SYS_pivot_root, ".", ".") == 0 && syscall(SYS_umount2, ".", MNT_DETACH) == 0;
}

bool make_root(const struct jail *jail) {
    bool made = enter_root(jail);
    return chdir("/") == 0 && made;
}
