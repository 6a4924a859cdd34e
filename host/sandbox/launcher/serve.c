/* The launch server: a process beside the daemon that keeps the two capabilities which change a process' user, so that the daemon has none. It starts
   one program only, that of its arguments, in their jail, and never as its own user. A request has the numbers that differ (ask.c):

     BYTES\0 CGROUP\0 [NUMBER\0]…    with three descriptors: stdin, stdout, and a connection that gets the status of waitpid()
     warm\0 BYTES\0 CGROUP\0 [NUMBER\0]…   the same, as a copy of a zygote (zygote.c)
     file\0 VERB\0 NAME\0             a change of the daemon's configuration file (configuration.c); the status has the errno
     share\0 DIRECTORY\0             without descriptors: the daemon's group gets the files that root has made there (share.c)
     connect\0 PATH\0                the same with `listen` and `remove`: a socket in a directory of root (sockets.c)

   The daemon's arguments are the program's last ones, after a second `--`. Without `--uids`, `--configuration` and `--daemon-uid` there is no server. */
#include "launcher.h"

#include <linux/capability.h>
#include <sys/socket.h>

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
    if (jail->uid_count > 0 && complete_jail(jail, text, size)) {
        int status = launch(jail, fds[2]);
        if (status == INSIDE) execute(jail->command);
        _exit(status);
    }
    errno = EINVAL;
    report(&none, "the request is not understood");
    _exit(BAD_USAGE);
}

static const char warm[] = "warm";

/* The answers are those of receive_request(). */
static long next_request(int connection, char *text, int fds[ASKED_FDS]) {
    for (;;) {
        struct pollfd ready[] = {{.fd = connection, .events = POLLIN}, {.fd = awaited_answer(), .events = POLLIN}};
        if (poll(ready, 2, -1) < 0 && errno != EINTR) return -1;
        if (ready[1].revents != 0) forward_answer(connection);
        if (ready[0].revents != 0) return receive_request(connection, text, fds);
    }
}

static _Noreturn void answer_requests(int connection, struct jail *jail) {
    static char text[REQUEST_MAX];
    int fds[ASKED_FDS];
    long size;
    /* The daemon still completes calls after these signals. The kernel removes children that have ended. */
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) signal(ignored[i], SIG_IGN);
    while ((size = next_request(connection, text, fds)) >= 0) {
        unsigned long none = 0;
        if (size == 0) continue;
        bool is_warm = strcmp(text, warm) == 0;
        if (fds[0] < 0) {
            if (is_about_paths(text)) begin_path_request(jail, text, size, connection);
            continue;
        }
        if (!is_warm && fork_into(&none) == 0) {
            forget_zygote();
            close(connection);
            start(jail, text, size, fds);
        }
        /* If this fails, the descriptors are closed without a report, and the daemon asks for a process of the other kind. */
        if (is_warm && jail->uid_count > 0 && size > (long)sizeof warm) ask_zygote(jail, text + sizeof warm, (size_t)size - sizeof warm, fds);
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
    if (!become_daemon(jail->daemon_uid)) return fail("the daemon's user (--uid) needs CAP_SETUID and CAP_SETGID");
    if (!drop_capabilities() || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fail("capabilities cannot be given up");
    if (!tell("PLEXUS_LAUNCH_SERVER", server) || !tell("PLEXUS_LAUNCH_UIDS", (long)jail->uid_count) || !tell("PLEXUS_LANDLOCK", restrict_daemon(jail)) || !tell("PLEXUS_NO_LINKS", forbid_links())) return fail("the environment");
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
    /* Best effort: with CAP_DAC_OVERRIDE no group is needed. */
    if (jail.daemon_uid == 0 && jail.joined != 0) syscall(SYS_setgroups, 1L, &jail.joined);
    if (jail.uid_count == 0 && jail.configuration.name == NULL && jail.daemon_uid == 0) return be_daemon(&jail, -1, 0, daemon);
    jail.own_uid_only = true;
    jail.configuration.reader = jail.daemon_uid;
    /* A file's owner may give it to a group that the owner is in. The launch server stays in it. */
    bool in_group = jail.daemon_uid == 0 || syscall(SYS_setgroups, 1L, &jail.daemon_uid) == 0;
    if (!in_group) return fail("the daemon's group (--uid) needs CAP_SETGID");
    if ((errno = jail.daemon_uid == 0 ? 0 : share_all(&jail)) != 0) return fail("a directory that the daemon shares with root");
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
