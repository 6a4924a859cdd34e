#include "spawn.h"

void close_from(int first) {
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)first, ~0u, 0u) == 0) return;
#endif
    struct rlimit limit; /* kernels before 5.9 */
    int last = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536 ? (int)limit.rlim_cur : 65536;
    for (int fd = first; fd < last; fd++) close(fd);
}

int memory_file(const char *name) {
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_NOEXEC_SEAL);
    return fd < 0 && errno == EINVAL ? memfd_create(name, MFD_CLOEXEC) : fd; /* kernels before 6.3 */
}

/* Chooses the SELinux context of the next execve. False: errno, such as EINVAL for an unknown context, or where SELinux is off. */
static bool choose_context(const char *context) {
    int fd = open("/proc/self/attr/exec", O_WRONLY | O_CLOEXEC);
    ssize_t size = (ssize_t)strlen(context), written = fd < 0 ? -1 : write(fd, context, (size_t)size);
    if (fd >= 0) close(fd);
    return written == size;
}

/* Runs in the child, which still uses the parent's memory: system calls only, and no return. */
static _Noreturn void exec_in_child(const struct spawn *spawn, char *const *environment, pid_t parent, volatile int *error) {
    sigset_t no_signals;
    sigemptyset(&no_signals);
    setpgid(0, 0);
    bool ready = true;
    for (int target = 0; target < SPAWN_FDS && ready; target++) {
        int fd = spawn->fds[target];
        if (fd == target) ready = fcntl(fd, F_SETFD, 0) == 0;
        else if (fd >= 0) ready = dup2(fd, target) == target;
    }
    if (ready && spawn->selinux_context != NULL) ready = choose_context(spawn->selinux_context);
    if (ready && spawn->directory != NULL) ready = chdir(spawn->directory) == 0;
    /* The signal comes when the forking thread ends; the shim has one thread. A set-uid plugin loses the signal. */
    if (ready && spawn->dies_with_parent) ready = prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
    if (ready && sigprocmask(SIG_SETMASK, &no_signals, NULL) == 0) execve(spawn->argv[0], spawn->argv, environment);
    *error = errno;
    _exit(127);
}

pid_t spawn(const struct spawn *spawn) {
    volatile int error = 0;
    pid_t parent = getpid();
    struct buffer environment = {0}; /* pointers to the strings, then NULL */
    for (char *at = (char *)spawn->environment->data, *end = at + spawn->environment->size; at < end; at += strlen(at) + 1)
        buffer_append(&environment, &at, sizeof at);
    buffer_append(&environment, &(char *){NULL}, sizeof(char *));
    pid_t child = vfork(); /* the parent sleeps until execve succeeds or the child ends */
    if (child == 0) exec_in_child(spawn, (void *)environment.data, parent, &error);
    if (child < 0) error = errno;
    buffer_free(&environment);
    if (error == 0) return child;
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
    errno = error;
    return -1;
}
