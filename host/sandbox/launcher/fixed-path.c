/* A path that the daemon cannot lead elsewhere. Each directory of the path, and each that holds a link of it, is one in which the daemon may replace nothing:
   the daemon has one user, one group and no capability. */
#include "launcher.h"

enum { LINKS_MAX = 16, PATH_BYTES = 4096, WALK = O_PATH | O_NOFOLLOW | O_CLOEXEC };

/* Whether the daemon may replace other users' entries. In a directory with the sticky bit only an entry's owner may, or the directory's. */
static bool may_replace(const struct stat *directory, unsigned daemon) {
    if (directory->st_uid == daemon) return true;
    unsigned write = directory->st_gid == daemon ? 020 : 002;
    return (directory->st_mode & write) != 0 && (directory->st_mode & S_ISVTX) == 0;
}

/* Puts the link's target before the rest of the path. */
static int follow(int link, char *path, const char *rest) {
    static char joined[PATH_BYTES];
    long size = syscall(SYS_readlinkat, (long)link, "", joined, (long)sizeof joined);
    if (size < 0) return errno;
    if ((size_t)size + strlen(rest) + 2 > sizeof joined) return ENAMETOOLONG;
    joined[size] = '/';
    strcpy(joined + size + 1, rest);
    strcpy(path, joined);
    return 0;
}

int open_directory_of(const char *wanted, unsigned daemon, const char **name) {
    static char path[PATH_BYTES];
    struct stat status;
    char *at = path;
    int links = 0, error = strlen(wanted) < sizeof path ? 0 : ENAMETOOLONG, fd = open("/", WALK);
    if (error == 0) strcpy(path, wanted);
    while (fd >= 0 && error == 0) {
        at += strspn(at, "/");
        size_t size = strcspn(at, "/");
        char *rest = at + size + strspn(at + size, "/");
        if (fstat(fd, &status) != 0 || may_replace(&status, daemon)) error = EPERM;
        if (error != 0 || *rest == 0) break;
        at[size] = 0;
        int next = openat(fd, at, WALK);
        if (next < 0 || fstat(next, &status) != 0) error = errno;
        else if (status.st_uid == daemon) error = EPERM;
        else if (S_ISLNK(status.st_mode)) error = ++links > LINKS_MAX ? ELOOP : follow(next, path, rest);
        else if (!S_ISDIR(status.st_mode)) error = ENOTDIR;
        bool is_link = error == 0 && S_ISLNK(status.st_mode);
        if (error == 0 && (!is_link || path[0] == '/')) {
            close(fd);
            fd = is_link ? open("/", WALK) : next;
        }
        if (next >= 0 && next != fd) close(next);
        at = is_link ? path : rest;
    }
    bool is_name = error == 0 && fd >= 0 && *at != 0 && strchr(at, '/') == NULL && strcmp(at, ".") != 0 && strcmp(at, "..") != 0;
    if (is_name) return *name = at, fd;
    if (fd >= 0) close(fd);
    errno = error != 0 ? error : EINVAL;
    return -1;
}
