/* Tries, in the jail, what an escaped guest would try, and reports each try in a frame (frames.ts, type PROBED): its name, and the error that
   the kernel answered; 0 means that the try succeeded. Arguments: a pid outside of the jail, a file outside, and a number of bytes beyond the limit. */
#include "launcher.h"

#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

enum { STDOUT = 1, PROBED = 14, HEADER = 13 };

static void tried(const char *name, long answer) {
    int error = answer < 0 ? errno : 0;
    uint8_t frame[192];
    char *json = (char *)frame + HEADER;
    size_t size = (size_t)snprintf(json, sizeof frame - HEADER, "{\"tried\":\"%s\",\"errno\":%d}", name, error);
    uint32_t rest = (uint32_t)(HEADER - sizeof rest + size), length = (uint32_t)size;
    memset(frame, 0, HEADER);
    memcpy(frame, &rest, sizeof rest);
    frame[4] = PROBED;
    memcpy(frame + 9, &length, sizeof length);
    if (write(STDOUT, frame, HEADER + size) < 0) _exit(1);
}

static void try_network(void) {
    static const struct {
        const char *name;
        int family, type;
    } sockets[] = {
        {"socket-inet", AF_INET, SOCK_STREAM}, {"socket-inet6", AF_INET6, SOCK_DGRAM}, {"socket-packet", AF_PACKET, SOCK_RAW},
        {"socket-netlink", AF_NETLINK, SOCK_RAW}, {"socket-unix", AF_UNIX, SOCK_STREAM}, {"socket-vsock", AF_VSOCK, SOCK_STREAM},
    };
    for (size_t i = 0; i < sizeof sockets / sizeof *sockets; i++) tried(sockets[i].name, syscall(SYS_socket, sockets[i].family, sockets[i].type, 0));
    struct io_uring_params ring;
    memset(&ring, 0, sizeof ring);
    tried("io-uring", syscall(SYS_io_uring_setup, 4, &ring));
}

static void try_processes(int other) {
    static const uint64_t fork_arguments[8] = {[4] = SIGCHLD};
    uint8_t byte;
    struct iovec here = {&byte, 1}, there = {&here, 1};
    long child = syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
    if (child == 0) _exit(0);
    tried("fork", child);
    child = syscall(SYS_clone3, fork_arguments, sizeof fork_arguments);
    if (child == 0) _exit(0);
    tried("fork-clone3", child);
    tried("kill-other", syscall(SYS_kill, other, 0));
    tried("kill-all", syscall(SYS_kill, -1, 0));
    tried("ptrace-other", syscall(SYS_ptrace, (long)PTRACE_SEIZE, other, 0L, 0L));
    tried("read-memory", syscall(SYS_process_vm_readv, other, &here, 1L, &there, 1L, 0L));
    tried("pidfd", syscall(SYS_pidfd_open, other, 0));
}

static void try_kernel(void) {
    union bpf_attr program;
    struct perf_event_attr event;
    memset(&program, 0, sizeof program);
    memset(&event, 0, sizeof event);
    event.size = sizeof event;
    event.type = PERF_TYPE_SOFTWARE;
    event.exclude_kernel = 1;
    tried("user-namespace", syscall(SYS_unshare, (long)CLONE_NEWUSER));
    tried("network-namespace", syscall(SYS_unshare, (long)CLONE_NEWNET));
    tried("mount", syscall(SYS_mount, "tmpfs", "/", "tmpfs", 0L, NULL));
    tried("chroot", syscall(SYS_chroot, "/"));
    tried("keyring", syscall(SYS_keyctl, 0L, -3L, 1L, 0L, 0L)); /* KEYCTL_GET_KEYRING_ID of the session */
    tried("bpf", syscall(SYS_bpf, (long)BPF_MAP_CREATE, &program, sizeof program));
    tried("perf-event", syscall(SYS_perf_event_open, &event, 0L, -1L, -1L, 0L));
    tried("userfaultfd", syscall(SYS_userfaultfd, 1L));
    tried("anonymous-file", memfd_create("x", 0));
    tried("uid-0", syscall(SYS_setresuid, 0L, 0L, 0L));
    tried("new-session", syscall(SYS_setsid));
}

static void try_files(const char *outside) {
    tried("read-outside", open(outside, O_RDONLY));
    tried("read-proc", open("/proc/self/status", O_RDONLY));
    tried("write-root", open("/plexus-probe", O_WRONLY | O_CREAT, 0600));
    tried("write-tmp", open("/tmp/plexus-probe", O_WRONLY | O_CREAT, 0600));
    tried("make-directory", mkdir("/plexus-probe-directory", 0700));
}

static void try_memory(size_t bytes) {
    long at = syscall(SYS_mmap, NULL, bytes, (long)(PROT_READ | PROT_WRITE), (long)(MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE), -1L, 0L);
    tried("memory", at == -1 ? -1 : 0);
}

static unsigned long long number_of(const char *text) {
    unsigned long long number = 0;
    for (; *text >= '0' && *text <= '9'; text++) number = number * 10 + (unsigned)(*text - '0');
    return number;
}

_Noreturn void probe(char **arguments) {
    if (arguments[0] == NULL || arguments[1] == NULL || arguments[2] == NULL) _exit(2);
    try_network();
    try_processes((int)number_of(arguments[0]));
    try_files(arguments[1]);
    try_memory((size_t)number_of(arguments[2]));
    try_kernel();
    _exit(0);
}
