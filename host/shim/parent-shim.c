#include "parent-shim.h"
#include "daemon-connection.h"

enum { ANCESTORS_MAX = 64 };

const char *parent_socket(void) {
    const char *socket = getenv("PLEXUS_NESTED_CALLS") ?: "";
    return *socket == 0 ? NULL : socket;
}

/* The parent of process `pid`; 0 where there is none. */
static pid_t parent_of(pid_t pid) {
    char path[32], text[512]; /* `PID (NAME) STATE PARENT …`; a name has at most 64 bytes, and any characters */
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    close(fd); /* -1 where open failed: harmless */
    if (size <= 0) return 0;
    text[size] = 0;
    const char *at = strrchr(text, ')');
    pid_t parent = 0;
    if (at == NULL || strlen(at) < sizeof ") S ") return 0;
    for (at += sizeof ") S " - 1; *at >= '0' && *at <= '9'; at++) parent = parent * 10 + (*at - '0');
    return parent;
}

static bool is_ancestor(pid_t pid) {
    pid_t at = getppid();
    for (int steps = 0; at > 0 && at != pid && steps < ANCESTORS_MAX; steps++) at = parent_of(at);
    return at > 0 && at == pid;
}

int connect_to_parent(void) {
    struct ucred listener; /* the process that called listen() */
    socklen_t size = sizeof listener;
    int fd = connect_to(parent_socket());
    if (fd < 0) return -1;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &listener, &size) == 0 && listener.uid == geteuid() && is_ancestor(listener.pid)) return fd;
    close(fd);
    errno = EPERM;
    return -1;
}
