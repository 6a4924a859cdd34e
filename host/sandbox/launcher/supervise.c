/* The parent of the sandbox process. The engine knows it as its child. It has the rights to kill the sandbox process even where the engine has not. */
#include "launcher.h"

#include <sys/socket.h>

enum { STDIN = 0 };

_Noreturn void end_as(int status) {
    if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
    sigset_t none;
    sigemptyset(&none);
    signal(WTERMSIG(status), SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    kill(getpid(), WTERMSIG(status));
    _exit(128 + WTERMSIG(status));
}

static _Noreturn void tell_and_end(int status, int asker) {
    if (asker >= 0) send(asker, &status, sizeof status, MSG_NOSIGNAL);
    end_as(status);
}

/* Until the child has changed its user, which it does before it executes anything, this process may not kill it. */
static _Noreturn void kill_and_end(int child, int asker) {
    int status;
    for (;;) {
        bool sent = kill(child, SIGKILL) == 0;
        if (waitpid(child, &status, sent ? 0 : WNOHANG) == child) tell_and_end(status, asker);
        if (!sent) poll(NULL, 0, 1);
    }
}

_Noreturn void supervise(int child, int signals, int asker) {
    int status;
    for (;;) {
        /* Without events: poll() reports only that the other end was closed. A descriptor of -1 is ignored. */
        struct pollfd fds[] = {{.fd = STDIN}, {.fd = signals, .events = POLLIN}, {.fd = asker}};
        if ((poll(fds, 3, -1) < 0 && errno != EINTR) || fds[0].revents != 0 || fds[2].revents != 0) kill_and_end(child, asker);
        if (waitpid(child, &status, WNOHANG) == child) tell_and_end(status, asker);
        struct signalfd_siginfo signal;
        if (fds[1].revents != 0 && read(signals, &signal, sizeof signal) < 0 && errno != EAGAIN) kill_and_end(child, asker);
    }
}
