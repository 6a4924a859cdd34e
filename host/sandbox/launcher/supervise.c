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

_Noreturn void supervise(int child, int signals) {
    int status;
    for (;;) {
        /* Without events: poll() reports only that the other end was closed. */
        struct pollfd fds[] = {{.fd = STDIN}, {.fd = signals, .events = POLLIN}};
        if (poll(fds, 2, -1) < 0 && errno != EINTR) kill(child, SIGKILL);
        if (fds[0].revents != 0) {
            kill(child, SIGKILL);
            while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
            end_as(status);
        }
        if (waitpid(child, &status, WNOHANG) == child) end_as(status);
        struct signalfd_siginfo signal;
        if (fds[1].revents != 0 && read(signals, &signal, sizeof signal) < 0 && errno != EAGAIN) kill(child, SIGKILL);
    }
}
