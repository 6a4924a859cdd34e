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

/* The engine's own signals are no crash. */
static bool has_crashed(int status) { return WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL && WTERMSIG(status) != SIGTERM; }

static _Noreturn void tell_and_end(int status, const struct supervision *supervision) {
    if (supervision->asker >= 0) send(supervision->asker, &status, sizeof status, MSG_NOSIGNAL);
    /* Last: the zygote has ended after an earlier crash, and the write fails. */
    if (supervision->crashes >= 0 && has_crashed(status) && write(supervision->crashes, "", 1) < 0) _exit(FAILED);
    end_as(status);
}

/* Until the child has changed its user, which it does before it executes anything, this process may not kill it. */
static _Noreturn void kill_and_end(const struct supervision *supervision) {
    int status;
    for (;;) {
        bool sent = kill(supervision->child, SIGKILL) == 0;
        if (waitpid(supervision->child, &status, sent ? 0 : WNOHANG) == supervision->child) tell_and_end(status, supervision);
        if (!sent) poll(NULL, 0, 1);
    }
}

_Noreturn void supervise(const struct supervision *supervision) {
    int status;
    for (;;) {
        /* Without events: poll() reports only that the other end was closed. A descriptor of -1 is ignored. */
        struct pollfd fds[] = {{.fd = STDIN}, {.fd = supervision->signals, .events = POLLIN}, {.fd = supervision->asker}};
        if ((poll(fds, 3, -1) < 0 && errno != EINTR) || fds[0].revents != 0 || fds[2].revents != 0) kill_and_end(supervision);
        if (waitpid(supervision->child, &status, WNOHANG) == supervision->child) tell_and_end(status, supervision);
        struct signalfd_siginfo signal;
        if (fds[1].revents != 0 && read(supervision->signals, &signal, sizeof signal) < 0 && errno != EAGAIN) kill_and_end(supervision);
    }
}

enum { NUMBERS = sizeof(struct supervision) / sizeof(int), DIGITS = 12 };

/* A copy of a zygote has the zygote's memory, which a process that only waits need not keep. */
_Noreturn void supervise_elsewhere(const struct supervision *supervision, int supervisor) {
    char texts[NUMBERS][DIGITS], *arguments[NUMBERS + 3] = {"plexus-sandbox", "--supervise"};
    int numbers[NUMBERS];
    memcpy(numbers, supervision, sizeof numbers);
    for (int i = 0; i < NUMBERS; i++) {
        snprintf(texts[i], sizeof texts[i], "%d", numbers[i]);
        arguments[i + 2] = texts[i];
        if (i > 0) fcntl(numbers[i], F_SETFD, 0);
    }
    syscall(SYS_execveat, supervisor, "", arguments, (char *[]){NULL}, 0x1000 /* AT_EMPTY_PATH */);
    supervise(supervision);
}

_Noreturn void read_supervision(char **texts) {
    struct supervision supervision;
    int numbers[NUMBERS];
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    for (int i = 0; i < NUMBERS; i++) {
        const char *text = texts[i];
        unsigned long long number;
        if (text == NULL || !read_number(&text, &number)) _exit(BAD_USAGE);
        numbers[i] = (int)number;
    }
    memcpy(&supervision, numbers, sizeof supervision);
    supervise(&supervision);
}
