/* Kills the parent of a process at chosen moments, and tells whether the process ends, too.

     bereave PARENT-STOPS CHILD-STOPS COMMAND [ARGUMENT]…

   COMMAND starts one child. Both are traced. The parent goes on until its PARENT-STOPS-th entry into or return from a system call after that, and is held there;
   the child goes on until its CHILD-STOPS-th, or until it has executed a program or waits. The parent then gets SIGKILL. Prints `ended`, `survived` (the
   child executes a program without its parent, or goes on after it has), or `over` (the parent has fewer stops, or the child ended before). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OPTIONS = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL };

static pid_t parent, child;
static int parent_stops, child_stops;
static bool has_executed;

/* Whether the process sleeps in a system call. It may be wrong for a moment: every moment is a good one. */
static bool sleeps(pid_t pid) {
    char path[32], text[512], state = 'R';
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY);
    ssize_t size = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    text[size < 0 ? 0 : size] = 0;
    const char *end = strrchr(text, ')');
    if (end != NULL) state = end[2];
    return state == 'S';
}

/* Counts a stop, and lets the process go on until the next one unless it is held. */
static void step(pid_t pid, int status, bool held) {
    int signal = WSTOPSIG(status), event = status >> 16;
    bool is_call = signal == (SIGTRAP | 0x80);
    if (is_call && child > 0) ++*(pid == parent ? &parent_stops : &child_stops);
    if (pid == child && event == PTRACE_EVENT_EXEC) has_executed = true;
    if (!held) ptrace(PTRACE_SYSCALL, pid, 0, (long)(is_call || event != 0 || signal == SIGSTOP || signal == SIGTRAP ? 0 : signal));
}

static void finish(const char *answer) {
    puts(answer);
    fflush(stdout);
    if (child > 0) kill(child, SIGKILL);
    _exit(0);
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    int parent_limit = atoi(argv[1]), child_limit = atoi(argv[2]), status, input[2];
    if (pipe2(input, O_CLOEXEC) != 0) return 2;
    parent = fork();
    if (parent == 0) {
        dup2(input[0], 0);
        int out = open("/dev/null", O_RDWR);
        dup2(out, 1);
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        execv(argv[3], argv + 3);
        _exit(127);
    }
    if (waitpid(parent, &status, 0) != parent || ptrace(PTRACE_SETOPTIONS, parent, 0, (long)OPTIONS) != 0) return 2;
    ptrace(PTRACE_SYSCALL, parent, 0, 0);
    bool parent_held = false, child_held = false;
    pid_t unknown = 0; /* a child that stopped before its parent's event came */
    while (!(parent_held && child_held)) {
        pid_t pid = waitpid(-1, &status, __WALL | WNOHANG);
        if (pid == 0) {
            if (parent_held && child > 0 && sleeps(child)) break;
            if (child_held && sleeps(parent)) break;
            if (parent_held && child == 0) finish("over");
            usleep(200);
            continue;
        }
        if (pid < 0) return 2;
        if (!WIFSTOPPED(status)) finish("over");
        int event = status >> 16;
        if (pid == parent && (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_CLONE)) {
            unsigned long made = 0;
            ptrace(PTRACE_GETEVENTMSG, parent, 0, &made);
            child = (pid_t)made;
            if (unknown == child) ptrace(PTRACE_SYSCALL, child, 0, 0);
        } else if (pid != parent && pid != child) {
            unknown = pid;
            continue;
        }
        bool *held = pid == parent ? &parent_held : &child_held;
        bool is_call = WSTOPSIG(status) == (SIGTRAP | 0x80);
        int count = (pid == parent ? parent_stops : child_stops) + is_call, limit = pid == parent ? parent_limit : child_limit;
        *held = (is_call && count >= limit && child > 0) || (pid == child && event == PTRACE_EVENT_EXEC);
        step(pid, status, *held);
    }
    bool executed_before = has_executed;
    kill(parent, SIGKILL);
    while (waitpid(parent, &status, __WALL) == parent && WIFSTOPPED(status)) ptrace(PTRACE_CONT, parent, 0, 0);
    /* The parent has ended, so the kernel has sent what it will ever send. */
    if (child_held) ptrace(PTRACE_SYSCALL, child, 0, 0);
    alarm(60);
    for (int stops = 0; waitpid(child, &status, __WALL) == child; stops++) {
        if (!WIFSTOPPED(status)) finish("ended");
        if (executed_before || status >> 16 == PTRACE_EVENT_EXEC) finish("survived");
        ptrace(PTRACE_SYSCALL, child, 0, 0);
    }
    finish("ended");
}
