/* The parent of the sandbox process. The engine knows it as its child. It has the rights to kill the sandbox process even where the engine has not. */
#include "launcher.h"

enum { STDIN = 0 };

/* Ends as the child has ended. */
static _Noreturn void end_as(int status) {
    if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
    sigset_t none;
    sigemptyset(&none);
    signal(WTERMSIG(status), SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    kill(getpid(), WTERMSIG(status));
    _exit(128 + WTERMSIG(status));
}

/* Until the child has changed its user, which it does before it executes anything, this process may not kill it. */
static _Noreturn void kill_and_end(int child) {
    int status;
    for (;;) {
        bool sent = kill(child, SIGKILL) == 0;
        if (waitpid(child, &status, sent ? 0 : WNOHANG) == child) end_as(status);
        if (!sent) poll(NULL, 0, 1);
    }
}

_Noreturn void supervise(int child, int signals) {
    int status;
    for (;;) {
        /* Without events: poll() reports only that the other end was closed. */
        struct pollfd fds[] = {{.fd = STDIN}, {.fd = signals, .events = POLLIN}};
        if ((poll(fds, 2, -1) < 0 && errno != EINTR) || fds[0].revents != 0) kill_and_end(child);
        if (waitpid(child, &status, WNOHANG) == child) end_as(status);
        struct signalfd_siginfo signal;
        if (fds[1].revents != 0 && read(signals, &signal, sizeof signal) < 0 && errno != EAGAIN) kill_and_end(child);
    }
}
