/* The daemon's child for one sandbox process: passes its stdin and stdout to the launch server (serve.c), and ends as the sandbox process ends. When the
   daemon kills this process, the launch server's child kills the sandbox process. */
#include "launcher.h"

#include <sys/socket.h>

enum { STDIN, STDOUT, REQUEST_MAX = 4096, SENT_FDS = 3 };

/* Joins the texts, each with its NUL. Answers the size; 0: they are too long. */
static size_t join(char *request, char **texts) {
    size_t size = 0;
    for (; *texts != NULL; texts++) {
        size_t more = strlen(*texts) + 1;
        if (size + more > REQUEST_MAX) return 0;
        memcpy(request + size, *texts, more);
        size += more;
    }
    return size;
}

static bool send_request(char *request, size_t size, int status_end) {
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(SENT_FDS * sizeof(int))];
    } control = {0};
    int fds[SENT_FDS] = {STDIN, STDOUT, status_end};
    struct iovec part = {.iov_base = request, .iov_len = size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof control.space};
    control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fds), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.header), fds, sizeof fds);
    return syscall(SYS_sendmsg, SERVER_FD, &message, MSG_NOSIGNAL) == (long)size;
}

_Noreturn void ask(char **argv) {
    static char request[REQUEST_MAX];
    struct state none = {0};
    int ends[2], status;
    size_t size = join(request, argv);
    /* First: without a server its descriptor would be that of the new connection. */
    bool sent = size > 0 && fcntl(SERVER_FD, F_GETFD) >= 0 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0 && send_request(request, size, ends[1]);
    if (!sent) {
        report(&none, "plexusd's launch server cannot be asked");
        _exit(FAILED);
    }
    close(STDIN);
    close(STDOUT);
    close(SERVER_FD);
    close(ends[1]);
    long got;
    while ((got = read(ends[0], &status, sizeof status)) < 0 && errno == EINTR) continue;
    if (got == sizeof status) end_as(status);
    _exit(FAILED);
}
