/* Sockets in root's directories, which a daemon with a user of its own uses: the kubelet's service of devices, the database of Open vSwitch, the registration of a
   driver. The launch server hands over descriptors, and the daemon gets no right in the directories:

     connect\0 PATH\0   a connection to the socket of a `--connect`
     listen\0 PATH\0    a socket with mode 0600 that listens at the path of a `--listen`; a socket to which no process listens is replaced
     remove\0 PATH\0    removes that socket, if no process listens to it

   The answer is an errno (int) on the same connection, with the descriptor if there is one. A path is an option's whole text, and the daemon cannot lead it elsewhere
   (fixed-path.c). */
#include "launcher.h"

#include <sys/socket.h>
#include <sys/un.h>

enum { BACKLOG = 511, ONLY_OWNER = 0177 };

/* Enters the path's directory, in which the kernel finds the socket by its name alone, however long the path is. Answers 0 or an errno. */
static int enter(const char *path, unsigned daemon, struct sockaddr_un *address) {
    const char *name;
    int directory = open_directory_of(path, daemon, &name);
    if (directory < 0) return errno;
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int error = strlen(name) >= sizeof address->sun_path ? ENAMETOOLONG : fchdir(directory) == 0 ? 0 : errno;
    if (error == 0) strcpy(address->sun_path, name);
    close(directory);
    return error;
}

/* A connection to a socket that is not the daemon's own. Answers -1 with errno. It never waits: the daemon does nothing else meanwhile. */
static int connect_to(const struct sockaddr_un *address, unsigned daemon) {
    struct stat status;
    if (fstatat(AT_FDCWD, address->sun_path, &status, AT_SYMLINK_NOFOLLOW) != 0) return -1;
    if (!S_ISSOCK(status.st_mode) || status.st_uid == daemon) return errno = EPERM, -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || connect(fd, (const void *)address, sizeof *address) == 0) return fd;
    int error = errno;
    close(fd);
    return errno = error, -1;
}

/* Answers 0 or an errno; a missing socket is none. */
static int remove_unheard(const struct sockaddr_un *address, unsigned daemon) {
    int fd = connect_to(address, daemon);
    if (fd >= 0) return close(fd), EADDRINUSE;
    if (errno == ENOENT) return 0;
    if (errno != ECONNREFUSED) return errno == EAGAIN ? EADDRINUSE : errno;
    return unlinkat(AT_FDCWD, address->sun_path, 0) == 0 ? 0 : errno;
}

/* Answers -1 with errno. */
static int listen_at(const struct sockaddr_un *address, unsigned daemon) {
    if ((errno = remove_unheard(address, daemon)) != 0) return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    syscall(SYS_umask, (long)ONLY_OWNER);
    if (fd < 0 || (bind(fd, (const void *)address, sizeof *address) == 0 && listen(fd, BACKLOG) == 0)) return fd;
    int error = errno;
    close(fd);
    return errno = error, -1;
}

static bool is_named(const struct paths *paths, const char *path) {
    for (size_t i = 0; i < paths->count; i++)
        if (strcmp(paths->each[i], path) == 0) return true;
    return false;
}

int open_socket(const struct jail *jail, const char *verb, const char *path, int *fd) {
    struct sockaddr_un address;
    bool connects = strcmp(verb, "connect") == 0, listens = strcmp(verb, "listen") == 0;
    if (!is_named(connects ? &jail->connected : &jail->listened, path)) return EPERM;
    int error = enter(path, jail->daemon_uid, &address);
    if (error != 0 || (!connects && !listens)) return error != 0 ? error : remove_unheard(&address, jail->daemon_uid);
    *fd = connects ? connect_to(&address, jail->daemon_uid) : listen_at(&address, jail->daemon_uid);
    return *fd < 0 ? errno : 0;
}
