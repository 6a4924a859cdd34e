/* The launch server: a process beside the daemon that keeps the two capabilities which change a process' user, so that the daemon has none. It starts
   one program only, that of its arguments, in their jail, and never as its own user. A request has the numbers that differ (ask.c):

     BYTES\0 CGROUP\0 [NUMBER\0]…    with three descriptors: stdin, stdout, and a connection that gets the status of waitpid()
     file\0 VERB\0 NAME\0             a change of the daemon's configuration file (configuration.c); the status has the errno

   The daemon's arguments are the program's last ones, after a second `--`. Without `--uids` and `--configuration` there is no server. */
#include "launcher.h"

#include <linux/capability.h>
#include <sys/socket.h>

enum { REQUEST_MAX = 4096, NUMBERS_MAX = 8, COMMAND_MAX = 64, ASKED_FDS = 3 };

/* Space for the descriptors of a message, aligned as the kernel asks. */
union descriptors {
    struct cmsghdr header;
    char space[CMSG_SPACE(ASKED_FDS * sizeof(int))];
};

/* Answers the size of a request with its descriptors, 0 for one that is not understood, and -1 when the daemon has ended. */
static long receive(int connection, char *text, int fds[ASKED_FDS]) {
    union descriptors control = {0};
    struct iovec part = {.iov_base = text, .iov_len = REQUEST_MAX};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.space};
    /* Not the size of the space: its alignment has place for one descriptor more. */
    message.msg_controllen = CMSG_LEN(ASKED_FDS * sizeof(int));
    long size = syscall(SYS_recvmsg, connection, &message, MSG_CMSG_CLOEXEC);
    if (size <= 0) return size < 0 && errno == EINTR ? 0 : -1;
    size_t count = message.msg_controllen >= CMSG_LEN(0) && control.header.cmsg_level == SOL_SOCKET && control.header.cmsg_type == SCM_RIGHTS
                       ? (control.header.cmsg_len - CMSG_LEN(0)) / sizeof(int)
                       : 0;
    if (count > ASKED_FDS) _exit(FAILED); /* the kernel never gives more than there is place for */
    memcpy(fds, CMSG_DATA(&control.header), count * sizeof(int));
    if (count == ASKED_FDS && (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0 && text[size - 1] == 0) return size;
    for (size_t i = 0; i < count; i++) close(fds[i]);
    return 0;
}

static bool is_number(const char *text) {
    unsigned long long number;
    return read_number(&text, &number) && *text == 0;
}

/* Completes jail and command by the request. */
static bool complete(struct jail *jail, char *text, long size) {
    static char *command[COMMAND_MAX + NUMBERS_MAX + 1];
    size_t count = 0;
    unsigned long long bytes;
    const char *number = text;
    char *end = text + size, *next = text + strlen(text) + 1;
    if (!read_number(&number, &bytes) || *number != 0 || !add_limit(jail, 2 /* RLIMIT_DATA */, bytes) || next >= end) return false;
    if (*next != 0) jail->cgroup = next;
    while (jail->command[count] != NULL) {
        if (count == COMMAND_MAX) return false;
        command[count] = jail->command[count];
        count++;
    }
    for (next += strlen(next) + 1; next < end; next += strlen(next) + 1) {
        if (count == COMMAND_MAX + NUMBERS_MAX || !is_number(next)) return false;
        command[count++] = next;
    }
    jail->command = command;
    return true;
}

/* Changes the daemon's configuration file, without capabilities, and answers with the errno as an exit status. */
static _Noreturn void change(const struct configuration *configuration, char *text, long size, int asker) {
    char *end = text + size, *verb = text + strlen(text) + 1, *name = verb < end ? verb + strlen(verb) + 1 : end;
    int error = keep_capabilities(0) && name < end ? change_configuration(configuration, verb, name) : EINVAL, status = error << 8;
    send(asker, &status, sizeof status, MSG_NOSIGNAL);
    _exit(0);
}

/* The process that starts the sandbox process and waits for it. */
static _Noreturn void start(struct jail *jail, char *text, long size, const int fds[ASKED_FDS]) {
    struct state none = {0};
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    if (dup2(fds[0], 0) < 0 || dup2(fds[1], 1) < 0) _exit(FAILED);
    close(fds[0]);
    close(fds[1]);
    if (strcmp(text, "file") == 0) change(&jail->configuration, text, size, fds[2]);
    if (jail->uid_count > 0 && complete(jail, text, size)) _exit(launch(jail, fds[2]));
    errno = EINVAL;
    report(&none, "the request is not understood");
    _exit(BAD_USAGE);
}

static _Noreturn void answer_requests(int connection, struct jail *jail) {
    static char text[REQUEST_MAX];
    int fds[ASKED_FDS];
    long size;
    /* The daemon still completes calls after these signals. The kernel removes children that have ended. */
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) signal(ignored[i], SIG_IGN);
    while ((size = receive(connection, text, fds)) >= 0) {
        unsigned long none = 0;
        if (size == 0) continue;
        int child = fork_into(&none);
        if (child == 0) {
            close(connection);
            start(jail, text, size, fds);
        }
        for (int i = 0; i < ASKED_FDS; i++) close(fds[i]);
    }
    _exit(0);
}

/* The server keeps no directory and no descriptor of the daemon. */
static _Noreturn void be_server(int connection, struct jail *jail) {
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3; fd++)
        if (dup2(nothing, fd) < 0) _exit(FAILED);
    if (connection != SERVER_FD && dup2(connection, SERVER_FD) < 0) _exit(FAILED);
    syscall(SYS_close_range, (unsigned)SERVER_FD + 1, ~0u, 0u);
    bool kept = keep_capabilities(jail->uid_count == 0 ? 0 : UINT64_C(1) << CAP_SETUID | UINT64_C(1) << CAP_SETGID);
    if (!kept || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || chdir("/") != 0) _exit(FAILED);
    prctl(PR_SET_NAME, "plexus-launcher", 0, 0, 0);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    answer_requests(SERVER_FD, jail);
}

static int fail(const char *what) {
    dprintf(2, "plexusd: %s: %s\n", what, strerror(errno));
    return FAILED;
}

static bool tell(const char *variable, long number) {
    char text[24];
    snprintf(text, sizeof text, "%ld", number);
    return setenv(variable, text, 1) == 0;
}

/* Executes the daemon, which can neither get a capability nor another user. `server`: the pid of the launch server, or 0. */
static int be_daemon(const struct jail *jail, int connection, int server, char **command) {
    bool is_open = server == 0 || (connection == SERVER_FD ? fcntl(connection, F_SETFD, 0) == 0 : dup2(connection, SERVER_FD) == SERVER_FD);
    if (!is_open) return fail("the connection to the launch server");
    if (!drop_capabilities() || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fail("capabilities cannot be given up");
    if (!tell("PLEXUS_LAUNCH_SERVER", server) || !tell("PLEXUS_LAUNCH_UIDS", (long)jail->uid_count) || !tell("PLEXUS_LANDLOCK", restrict_daemon(jail))) return fail("the environment");
    execve(command[0], command, environ);
    return fail(command[0]);
}

int serve(char **argv) {
    static struct jail jail;
    int ends[2];
    unsigned long none = 0;
    char **daemon = read_arguments(&jail, argv) ? jail.command : (char *[]){NULL};
    while (*daemon != NULL && strcmp(*daemon, "--") != 0) daemon++;
    if (*daemon == NULL || daemon[1] == NULL) return errno = EINVAL, fail("the launch server's arguments");
    *daemon++ = NULL;
    if (jail.uid_count == 0 && jail.configuration.name == NULL) return be_daemon(&jail, -1, 0, daemon);
    jail.own_uid_only = true;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return fail("the connection to the launch server");
    int server = fork_into(&none);
    if (server < 0) return fail("the launch server cannot be started");
    if (server == 0) {
        close(ends[0]);
        be_server(ends[1], &jail);
    }
    close(ends[1]);
    return be_daemon(&jail, ends[0], server, daemon);
}
