/* The launch server's zygote: a warm Node process that never runs a guest. Each sandbox process is a copy of it (fork), which enters its jail as one that
   executes Node (launch.c). It has the launch server's two capabilities, is started by the first request, and is replaced by the first request after its end.
   host/sandbox/zygote/addon.c is its side of the connection. */
#include "launcher.h"

#include <sys/socket.h>

static int connection = -1;

void forget_zygote(void) {
    if (connection >= 0) close(connection);
}

static _Noreturn void be_zygote(const struct jail *jail, int end) {
    /* Otherwise the zygote's own children would end unseen. */
    signal(SIGCHLD, SIG_DFL);
    if (!bequeath_capabilities() || dup2(end, SERVER_FD) < 0) _exit(FAILED);
    execve(jail->zygote[0], jail->zygote, (char *[]){NULL});
    _exit(FAILED);
}

static bool start(const struct jail *jail) {
    int ends[2];
    unsigned long none = 0;
    if (connection >= 0) close(connection);
    connection = -1;
    if (jail->zygote_size == 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
    int child = fork_into(&none);
    if (child == 0) be_zygote(jail, ends[1]);
    close(ends[1]);
    connection = ends[0];
    return child > 0;
}

bool ask_zygote(const struct jail *jail, const char *text, size_t size, const int fds[ASKED_FDS]) {
    bool sent = connection >= 0 && send_request(connection, text, size, fds, MSG_DONTWAIT);
    /* A full queue is no reason to replace a zygote. */
    if (sent || (connection >= 0 && errno == EAGAIN)) return sent;
    return start(jail) && send_request(connection, text, size, fds, MSG_DONTWAIT);
}
