/* Plays a guest that broke out of V8: runs in a sandbox process in place of Node, and tries what the guest would try. Speaks the frames of
   host/sandbox/process/frames.ts: READY; then, after the engine's first frame, one LOG frame with the result of each try; then it waits to be killed.
   The third-last argument, where Node gets its script: VICTIM-PID,SOCKET,FILE,FORKS. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

enum { READY = 16, LOG = 18, HEADER = 13, MAX_FORKS = 2000 };

static void send_frame(int type, const char *json) {
    uint8_t frame[512];
    uint32_t length = (uint32_t)strlen(json), rest = length + HEADER - 4;
    memset(frame, 0, HEADER);
    memcpy(frame, &rest, 4);
    frame[4] = (uint8_t)type;
    memcpy(frame + 9, &length, 4);
    memcpy(frame + HEADER, json, length);
    if (write(1, frame, HEADER + length) < 0) _exit(1);
}

static void report(const char *name, long value) {
    char json[256];
    snprintf(json, sizeof json, "{\"tried\":\"%s\",\"value\":%ld}", name, value);
    send_frame(LOG, json);
}

/* Reports 0 for a success, otherwise the errno. */
static void tried(const char *name, long answer) { report(name, answer < 0 ? errno : 0); }

/* EPERM: no program may be executed. The kernel looks for the file otherwise. */
static void try_execution(void) {
    execve("/nonexistent/program", (char *[]){"program", NULL}, (char *[]){NULL});
    report("execute", errno == EPERM ? EPERM : 0);
}

static void try_network(const char *socket_path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct io_uring_params ring;
    memset(&ring, 0, sizeof ring);
    strncpy(address.sun_path, socket_path, sizeof address.sun_path - 1);
    tried("inet", socket(AF_INET, SOCK_STREAM, 0));
    tried("inet6", socket(AF_INET6, SOCK_DGRAM, 0));
    tried("packet", socket(AF_PACKET, SOCK_RAW, 0));
    tried("netlink", socket(AF_NETLINK, SOCK_RAW, 0));
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    tried("daemon-socket", fd < 0 ? -1 : connect(fd, (struct sockaddr *)&address, sizeof address));
    tried("daemon-socket-replaced", unlink(socket_path));
    tried("io-uring", syscall(SYS_io_uring_setup, 4, &ring));
}

static void try_other_process(pid_t victim) {
    char path[64], byte;
    struct iovec here = {&byte, 1}, there = {(void *)(uintptr_t)0x400000, 1};
    tried("signal", kill(victim, 0));
    long seized = ptrace(PTRACE_SEIZE, victim, 0, 0);
    tried("ptrace", seized);
    if (seized == 0) ptrace(PTRACE_DETACH, victim, 0, 0);
    snprintf(path, sizeof path, "/proc/%d/environ", victim);
    tried("proc-environ", open(path, O_RDONLY));
    snprintf(path, sizeof path, "/proc/%d/mem", victim);
    tried("proc-mem", open(path, O_RDWR));
    tried("read-memory", process_vm_readv(victim, &here, 1, &there, 1, 0) < 0 && errno != EFAULT ? -1 : 0);
}

/* Forks children that would stay, and ends them again. */
static void try_forks(int count) {
    static pid_t children[MAX_FORKS];
    int made = 0;
    for (; made < count && made < MAX_FORKS; made++) {
        children[made] = fork();
        if (children[made] < 0) break;
        if (children[made] == 0)
            for (;;) pause();
    }
    report("forks", made);
    for (int i = 0; i < made; i++) kill(children[i], SIGKILL);
}

/* A child in a session of its own, that ignores signals. Reports its pid, or 0. */
static void try_survivor(void) {
    pid_t child = fork();
    if (child == 0) {
        setsid();
        for (int number = 1; number < 65; number++) signal(number, SIG_IGN);
        for (int fd = 0; fd < 16; fd++) close(fd);
        for (;;) sleep(1);
    }
    report("survivor", child < 0 ? 0 : child);
}

static void try_files(const char *file) {
    struct rlimit limit = {4096, 4096};
    tried("passwd", open("/etc/passwd", O_RDONLY));
    tried("file", open(file, O_RDONLY));
    tried("file-written", open(file, O_WRONLY | O_APPEND));
    tried("tmp-written", open("/tmp/plexus-escapee", O_WRONLY | O_CREAT, 0600));
    unlink("/tmp/plexus-escapee");
    tried("limit-raised", setrlimit(RLIMIT_NOFILE, &limit));
    int descriptors = 0;
    for (int fd = 3; fd < 256; fd++)
        if (fcntl(fd, F_GETFD) >= 0) descriptors++;
    report("descriptors", descriptors);
}

static void report_rights(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2];
    report("capabilities", syscall(SYS_capget, &header, sets) == 0 ? (long)(sets[0].permitted | sets[1].permitted) : 0);
    report("no-new-privileges", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
    report("pid", getpid());
    long variables = 0;
    for (char **variable = environ; variable != NULL && *variable != NULL; variable++)
        if (strcmp(*variable, "MALLOC_ARENA_MAX=1") != 0) variables++;
    report("environment", variables);
}

int main(int argc, char **argv) {
    char text[512], byte;
    int victim = 0, forks = 0;
    char *socket_path = "", *file = "";
    if (argc < 4) return 2;
    snprintf(text, sizeof text, "%s", argv[argc - 3]);
    char *rest = text;
    victim = atoi(strsep(&rest, ","));
    if (rest != NULL) socket_path = strsep(&rest, ",");
    if (rest != NULL) file = strsep(&rest, ",");
    if (rest != NULL) forks = atoi(rest);
    send_frame(READY, "{}");
    if (read(0, &byte, 1) != 1) return 0;
    report_rights();
    try_files(file);
    try_other_process(victim);
    try_forks(forks);
    try_survivor();
    try_execution();
    try_network(socket_path);
    tried("mount", mount("tmpfs", "/mnt", "tmpfs", 0, NULL));
    tried("user-namespace", unshare(CLONE_NEWUSER));
    report("end", 0);
    for (;;) pause();
}
