/* The requests about paths: `share` (share.c), `connect`, `listen` and `remove` (sockets.c). A process of its own does each, without capabilities. The server forwards
   that process' answer to the daemon, which waits for it: a process that was killed, for example where memory is short, is answered for with EIO. */
#include "launcher.h"

#include <sys/socket.h>

/* The connection to the process of the last request, whose other end is open until that process ends. */
static int process = -1;
static bool owes_answer;

bool is_about_paths(const char *verb) {
    static const char *const verbs[] = {"share", "connect", "listen", "remove"};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(verb, verbs[i]) == 0) return true;
    return false;
}

/* Does such a request, without capabilities. */
static _Noreturn void use_path(const struct jail *jail, char *text, long size, int server) {
    char *path = text + strlen(text) + 1;
    int fd = -1, error = EINVAL;
    if (jail->daemon_uid != 0 && path < text + size && keep_capabilities(0))
        error = strcmp(text, "share") == 0 ? share_one(jail, path) : open_socket(jail, text, path, &fd);
    send_answer(server, error, fd);
    /* Before the connection, whose end the server waits for: the kernel closes descriptors in any order. */
    if (fd >= 0) close(fd);
    _exit(0);
}

int awaited_answer(void) { return owes_answer ? process : -1; }

void forward_answer(int connection) {
    int error, fd = -1;
    if (!receive_answer(process, &error, &fd)) error = EIO;
    send_answer(connection, error, fd);
    if (fd >= 0) close(fd);
    owes_answer = false;
}

/* The process still has a descriptor of the socket that it sent, and a listener that the daemon has just closed would still listen. */
static void await_end(void) {
    struct pollfd ended = {.fd = process};
    while (process >= 0 && poll(&ended, 1, -1) < 0 && errno == EINTR) continue;
    if (process >= 0) close(process);
    process = -1;
}

void begin_path_request(const struct jail *jail, char *text, long size, int connection) {
    int ends[2];
    unsigned long none = 0;
    if (owes_answer) forward_answer(connection);
    await_end();
    bool connected = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0;
    int child = connected ? fork_into(&none) : -1;
    if (child == 0) {
        forget_zygote();
        close(connection);
        close(ends[0]);
        use_path(jail, text, size, ends[1]);
    }
    if (connected) close(ends[1]);
    if (connected && child < 0) close(ends[0]);
    if (child < 0) {
        send_answer(connection, EAGAIN, -1);
        return;
    }
    process = ends[0];
    owes_answer = true;
}
