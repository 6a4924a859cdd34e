/* Directories that a daemon with a user of its own shares with root's programs: the state, the leases of native host-local, the sockets. They stay root's, and the
   daemon's group gets the rights that their owner has. A directory gets the set-group-ID bit, so that what is made in it later has the same group. Files that root
   makes there with mode 0600, as host-local does, are shared when the daemon asks for it:

     share\0 DIRECTORY\0     a directory of `--share`, or below; its answer is an errno (int) on the same connection

   No symbolic link is followed below a directory of `--share`, and a file with a second name stays as it is. Directories above get no more than the right to pass. */
#include "launcher.h"

#include <dirent.h>
#include <sys/vfs.h>

enum { DEPTH_MAX = 8, ENTRIES_MAX = 1 << 20, CGROUP2 = 0x63677270, GROUP = 070 };

enum { WALK = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, LOOK = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC };

/* A cgroup has further files, with which the daemon would raise its own bounds. */
static bool is_shared_of_cgroup(const char *name) {
    return strcmp(name, "cgroup.procs") == 0 || strcmp(name, "cgroup.subtree_control") == 0 || strcmp(name, "cgroup.threads") == 0;
}

static bool is_cgroup(int fd) {
    struct statfs system;
    return fstatfs(fd, &system) == 0 && system.f_type == CGROUP2;
}

/* Leaves what is not this user's, what has another name elsewhere, and programs with their owner's rights. */
static int share_opened(int fd, const struct stat *status, unsigned group) {
    bool is_directory = S_ISDIR(status->st_mode);
    if (status->st_uid != geteuid() || (!is_directory && (status->st_nlink != 1 || (status->st_mode & 06000) != 0))) return 0;
    unsigned mode = (unsigned)status->st_mode & 07777, wanted = mode | ((mode & 0700) >> 3 & GROUP) | (is_directory ? (unsigned)S_ISGID : 0);
    if (status->st_gid != group && syscall(SYS_fchown, (long)fd, -1L, (long)group) != 0) return errno;
    return (wanted != mode || status->st_gid != group) && syscall(SYS_fchmod, (long)fd, (long)wanted) != 0 ? errno : 0;
}

/* Shares the directory, its files, and the directories below to this depth. Closes the descriptor. */
static int share_directory(int fd, unsigned group, int depth, int *left) {
    struct stat status;
    int error = fstat(fd, &status) == 0 ? share_opened(fd, &status, group) : errno;
    bool cgroup = is_cgroup(fd);
    DIR *listing = fdopendir(fd);
    if (listing == NULL) return close(fd), errno;
    for (struct dirent *entry; (entry = readdir(listing)) != NULL && error == 0;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 || (cgroup && !is_shared_of_cgroup(entry->d_name))) continue;
        if (--*left < 0) error = E2BIG;
        int opened = openat(fd, entry->d_name, LOOK);
        if (opened < 0) continue; /* a link or a socket, or a file that was removed meanwhile */
        if (fstat(opened, &status) == 0 && S_ISDIR(status.st_mode) && depth > 0 && !cgroup) {
            error = share_directory(opened, group, depth - 1, left);
            continue;
        }
        if (fstat(opened, &status) == 0 && S_ISREG(status.st_mode)) error = share_opened(opened, &status, group);
        close(opened);
    }
    closedir(listing);
    return error;
}

/* Gives the group such rights in a directory that is closed for other users. Best effort: the daemon reports what it lacks. A directory of a further group stays as
   it is. */
static void open_to_group(const char *path, unsigned group, unsigned rights) {
    struct stat status;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_closed = fd >= 0 && fstat(fd, &status) == 0 && status.st_uid == geteuid() && (status.st_mode & rights) != rights;
    if (is_closed && (status.st_gid == 0 || status.st_gid == group) && syscall(SYS_fchown, (long)fd, -1L, (long)group) == 0)
        syscall(SYS_fchmod, (long)fd, (long)((status.st_mode & 07777) | rights << 3));
    if (fd >= 0) close(fd);
}

/* The daemon passes through the directories above: a runtime makes /var/lib/cni with mode 0700. */
static void open_way(const char *path, unsigned group) {
    char above[4096];
    if (strlen(path) >= sizeof above) return;
    strcpy(above, path);
    for (char *slash = strchr(above + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        open_to_group(above, group, 01);
        *slash = '/';
    }
}

int share_all(const struct jail *jail) {
    const char *configurations = jail->configuration.directory;
    if (configurations != NULL) {
        open_way(configurations, jail->daemon_uid);
        open_to_group(configurations, jail->daemon_uid, 05);
    }
    for (size_t i = 0; i < jail->shared_count; i++) {
        const struct shared *shared = &jail->shared[i];
        open_way(shared->path, jail->daemon_uid);
        int left = ENTRIES_MAX, fd = open(shared->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        /* A directory that is missing or of another user stays as it is: the daemon reports what it lacks. */
        int error = fd < 0 ? 0 : share_directory(fd, jail->daemon_uid, shared->with_all_below ? DEPTH_MAX : 0, &left);
        if (error != 0 && error != EROFS && error != EPERM) return error;
    }
    return 0;
}

/* The rest of `path` below the directory, or NULL. */
static const char *below(const char *directory, const char *path) {
    size_t size = strlen(directory);
    if (strncmp(directory, path, size) != 0) return NULL;
    return path[size] == 0 || path[size] == '/' ? path + size : NULL;
}

/* Opens a path below the directory, part by part. Answers -1 with errno. */
static int open_below(const char *directory, char *rest) {
    int fd = open(directory, WALK & ~O_NOFOLLOW);
    while (fd >= 0 && *rest != 0) {
        char *part = rest + 1, *end = strchr(part, '/');
        rest = end == NULL ? part + strlen(part) : end;
        if (end != NULL) *end = 0;
        bool is_name = *part != 0 && strcmp(part, ".") != 0 && strcmp(part, "..") != 0;
        int next = is_name ? openat(fd, part, WALK) : -1, error = is_name ? errno : EINVAL;
        if (end != NULL) *end = '/';
        close(fd);
        errno = error;
        fd = next;
    }
    if (fd < 0) return -1;
    int opened = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = errno;
    close(fd);
    errno = error;
    return opened;
}

int share_one(const struct jail *jail, char *path) {
    for (size_t i = 0; i < jail->shared_count; i++) {
        const char *rest = below(jail->shared[i].path, path);
        if (rest == NULL || (*rest != 0 && !jail->shared[i].with_all_below)) continue;
        int left = ENTRIES_MAX, fd = open_below(jail->shared[i].path, path + strlen(jail->shared[i].path));
        return fd < 0 ? errno : share_directory(fd, jail->daemon_uid, 0, &left);
    }
    return EPERM;
}
