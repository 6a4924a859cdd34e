/*
 * System calls with a libc's names and results: -1 and errno on failure. The libc's headers that declare these functions are not included: the
 * prototypes differ from one libc to another, but the registers of arguments and results do not.
 */
#include <errno.h>
#include <linux/time_types.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "kernel.h"

enum { SIGNALS_SIZE = 8 }; /* bytes of the kernel's signal set; a libc's is larger */

static int last_error;

int *__errno_location(void) { return &last_error; }

/* The libc's result for the kernel's: -4095 to -1 are negative errnos. */
static long answered(long answer) {
    if (answer >= 0 || answer < -4095) return answer;
    last_error = (int)-answer;
    return -1;
}

#define CALL(...) answered(kernel(__VA_ARGS__))

long read(int fd, void *data, size_t size) { return CALL(SYS_read, fd, data, size); }
long write(int fd, const void *data, size_t size) { return CALL(SYS_write, fd, data, size); }
long pread(int fd, void *data, size_t size, long at) { return CALL(SYS_pread64, fd, data, size, at); }
long pwrite(int fd, const void *data, size_t size, long at) { return CALL(SYS_pwrite64, fd, data, size, at); }
long lseek(int fd, long to, int from) { return CALL(SYS_lseek, fd, to, from); }
int close(int fd) { return (int)CALL(SYS_close, fd); }
int dup2(int fd, int wanted) { return (int)CALL(SYS_dup2, fd, wanted); }
int dup3(int fd, int wanted, int flags) { return (int)CALL(SYS_dup3, fd, wanted, flags); }
int pipe2(int *ends, int flags) { return (int)CALL(SYS_pipe2, ends, flags); }
int flock(int fd, int how) { return (int)CALL(SYS_flock, fd, how); }
int poll(void *fds, unsigned long count, int ms) { return (int)CALL(SYS_poll, fds, count, ms); }
int memfd_create(const char *name, unsigned flags) { return (int)CALL(SYS_memfd_create, name, flags); }

/* Without O_CREAT there is no third argument: the kernel ignores the value that is read for it. */
int openat(int directory, const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    unsigned mode = va_arg(list, unsigned);
    va_end(list);
    return (int)CALL(SYS_openat, directory, path, flags, mode);
}

int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    unsigned mode = va_arg(list, unsigned);
    va_end(list);
    return (int)CALL(SYS_open, path, flags, mode);
}

int fcntl(int fd, int what, ...) {
    va_list list;
    va_start(list, what);
    long value = va_arg(list, long);
    va_end(list);
    return (int)CALL(SYS_fcntl, fd, what, value);
}

int ioctl(int fd, unsigned long what, ...) {
    va_list list;
    va_start(list, what);
    long value = va_arg(list, long);
    va_end(list);
    return (int)CALL(SYS_ioctl, fd, what, value);
}

int stat(const char *path, void *status) { return (int)CALL(SYS_stat, path, status); }
int lstat(const char *path, void *status) { return (int)CALL(SYS_lstat, path, status); }
int fstat(int fd, void *status) { return (int)CALL(SYS_fstat, fd, status); }
int fstatfs(int fd, void *status) { return (int)CALL(SYS_fstatfs, fd, status); }
int fstatat(int directory, const char *path, void *status, int flags) { return (int)CALL(SYS_newfstatat, directory, path, status, flags); }
int access(const char *path, int mode) { return (int)CALL(SYS_access, path, mode); }
int mkdirat(int directory, const char *path, unsigned mode) { return (int)CALL(SYS_mkdirat, directory, path, mode); }
int mkdir(const char *path, unsigned mode) { return (int)CALL(SYS_mkdir, path, mode); }
int rmdir(const char *path) { return (int)CALL(SYS_rmdir, path); }
int unlinkat(int directory, const char *path, int flags) { return (int)CALL(SYS_unlinkat, directory, path, flags); }
int symlinkat(const char *target, int directory, const char *path) { return (int)CALL(SYS_symlinkat, target, directory, path); }
long readlink(const char *path, char *text, size_t size) { return CALL(SYS_readlink, path, text, size); }
int fchdir(int directory) { return (int)CALL(SYS_fchdir, directory); }
int mount(const char *source, const char *target, const char *type, unsigned long flags, const void *data) {
    return (int)CALL(SYS_mount, source, target, type, flags, data);
}
int chroot(const char *path) { return (int)CALL(SYS_chroot, path); }
int chdir(const char *path) { return (int)CALL(SYS_chdir, path); }
long getdents64(int fd, void *entries, size_t size) { return CALL(SYS_getdents64, fd, entries, size); }

int socket(int family, int type, int protocol) { return (int)CALL(SYS_socket, family, type, protocol); }
int socketpair(int family, int type, int protocol, int *ends) { return (int)CALL(SYS_socketpair, family, type, protocol, ends); }
int connect(int fd, const void *address, unsigned size) { return (int)CALL(SYS_connect, fd, address, size); }
int bind(int fd, const void *address, unsigned size) { return (int)CALL(SYS_bind, fd, address, size); }
int listen(int fd, int backlog) { return (int)CALL(SYS_listen, fd, backlog); }
int accept4(int fd, void *address, unsigned *size, int flags) { return (int)CALL(SYS_accept4, fd, address, size, flags); }
int shutdown(int fd, int how) { return (int)CALL(SYS_shutdown, fd, how); }
long send(int fd, const void *data, size_t size, int flags) { return CALL(SYS_sendto, fd, data, size, flags); }
long recv(int fd, void *data, size_t size, int flags) { return CALL(SYS_recvfrom, fd, data, size, flags); }
long sendto(int fd, const void *data, size_t size, int flags, const void *to, unsigned to_size) {
    return CALL(SYS_sendto, fd, data, size, flags, to, to_size);
}
long recvfrom(int fd, void *data, size_t size, int flags, void *from, unsigned *from_size) {
    return CALL(SYS_recvfrom, fd, data, size, flags, from, from_size);
}
int setsockopt(int fd, int level, int option, const void *value, unsigned size) { return (int)CALL(SYS_setsockopt, fd, level, option, value, size); }
int getsockopt(int fd, int level, int option, void *value, unsigned *size) { return (int)CALL(SYS_getsockopt, fd, level, option, value, size); }

int getpid(void) { return (int)kernel(SYS_getpid); }
int getppid(void) { return (int)kernel(SYS_getppid); }
unsigned geteuid(void) { return (unsigned)kernel(SYS_geteuid); }
int kill(int pid, int signal) { return (int)CALL(SYS_kill, pid, signal); }
int setpgid(int pid, int group) { return (int)CALL(SYS_setpgid, pid, group); }
int setns(int fd, int kind) { return (int)CALL(SYS_setns, fd, kind); }
int getrlimit(int what, void *limit) { return (int)CALL(SYS_prlimit64, 0, what, 0, limit); }
int waitpid(int pid, int *status, int options) { return (int)CALL(SYS_wait4, pid, status, options); }
int execve(const char *path, char *const *argv, char *const *environment) { return (int)CALL(SYS_execve, path, argv, environment); }
_Noreturn void _exit(int status) {
    for (;;) kernel(SYS_exit_group, status);
}

int prctl(int what, ...) {
    va_list list;
    va_start(list, what);
    long value = va_arg(list, long);
    va_end(list);
    return (int)CALL(SYS_prctl, what, value);
}

long syscall(long number, ...) {
    va_list list;
    long values[6];
    va_start(list, number);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) values[i] = va_arg(list, long);
    va_end(list);
    return CALL(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}

/* Parent and child return from the same stack frame. The child returns first and overwrites the return address, so a register keeps it.
   58 is SYS_vfork. */
__asm__(".globl vfork\n"
        ".type vfork, @function\n"
        "vfork:\n"
        "  endbr64\n"
        "  pop %rdx\n"
        "  mov $58, %eax\n"
        "  syscall\n"
        "  push %rdx\n"
        "  mov %rax, %rdi\n"
        "  jmp vforked\n");

__attribute__((used)) int vforked(long answer) { return (int)answered(answer); }

int clock_gettime(int clock, void *time) { return (int)CALL(SYS_clock_gettime, clock, time); }

int usleep(unsigned us) {
    struct __kernel_timespec time = {.tv_sec = us / 1000000, .tv_nsec = (long long)us % 1000000 * 1000};
    return (int)CALL(SYS_nanosleep, &time, 0);
}

int sigemptyset(uint64_t *set) {
    *set = 0;
    return 0;
}

int sigaddset(uint64_t *set, int number) {
    *set |= UINT64_C(1) << (number - 1);
    return 0;
}

int sigprocmask(int how, const void *set, void *old) { return (int)CALL(SYS_rt_sigprocmask, how, set, old, SIGNALS_SIZE); }
int signalfd(int fd, const void *set, int flags) { return (int)CALL(SYS_signalfd4, fd, set, SIGNALS_SIZE, flags); }

/* Only for SIG_DFL and SIG_IGN: handlers are not supported. Answers the new disposition, where a libc answers the old one; SIG_ERR on failure. */
void (*signal(int number, void (*what)(int)))(int) {
    struct {
        void (*what)(int);
        unsigned long flags;
        void (*restorer)(void);
        uint64_t mask;
    } action = {.what = what};
    return CALL(SYS_rt_sigaction, number, &action, 0, SIGNALS_SIZE) == 0 ? what : (void (*)(int))(intptr_t)-1;
}
