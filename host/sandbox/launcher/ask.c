/* The daemon's child for one sandbox process: passes its stdin and stdout to the launch server (serve.c), and ends as the sandbox process ends. When the
   daemon kills this process, the launch server's child kills the sandbox process. */
#include "launcher.h"

#include <sys/socket.h>

enum { STDIN, STDOUT };

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

_Noreturn void ask(char **argv) {
    static char request[REQUEST_MAX];
    struct state none = {0};
    int ends[2], status;
    size_t size = join(request, argv);
    /* First: without a server its descriptor would be that of the new connection. */
    bool connected = size > 0 && fcntl(SERVER_FD, F_GETFD) >= 0 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0;
    bool sent = connected && send_request(SERVER_FD, request, size, (int[]){STDIN, STDOUT, ends[1]}, 0);
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
