#include "engine-connection.h"
#include "cni-error.h"
#include "spawn.h"

struct stream engine;
char engine_violation[128];

static struct buffer environment; /* the shim's, as REQUEST and AGENT carry it */
static char engine_name[PATH_MAX * 2 + 64] = "the engine"; /* for errors */
static bool awaits_welcome;   /* the engine is a daemon, and this is a call */
static pid_t engine_pid;      /* of the one-shot engine */
static int engine_stderr = -1; /* a file in memory: the engine never blocks on it, and errors quote its end */

void send_to_engine(enum frame_type type, uint32_t channel, const struct message *message) {
    message_encode(&engine.out, type, channel, message);
    stream_flush(&engine);
}

static void read_environment(void) {
    const char *longest = "";
    environment.size = 0;
    for (char **entry = environ; *entry != NULL; entry++) {
        buffer_append(&environment, *entry, strlen(*entry) + 1);
        if (strlen(*entry) > strlen(longest)) longest = *entry;
    }
    if (environment.size > ENVIRONMENT_MAX)
        fail(CNI_ENVIRONMENT, "Call the plugin with fewer or shorter variables.", "the environment is larger than %u bytes; its longest variable is %.*s",
             ENVIRONMENT_MAX, (int)strcspn(longest, "="), longest);
}

/* Answers a socket, or -1 with errno. Waits at most CONNECT_MS for a place in a full backlog (then EAGAIN). */
static int connect_to(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval bound = {.tv_sec = CONNECT_MS / 1000, .tv_usec = CONNECT_MS % 1000 * 1000};
    bool fits = snprintf(address.sun_path, sizeof address.sun_path, "%s", path) < (int)sizeof address.sun_path;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fits && setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &bound, sizeof bound) == 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    int error = fits ? errno : ENAMETOOLONG;
    close(fd);
    errno = error;
    return -1;
}

static const char *daemon_socket(void) {
    const char *configured = getenv("PLEXUS_SOCKET") ?: "";
    return *configured != 0 ? configured : "/run/plexus/plexus.sock";
}

const char *describe_engine(void) {
    static char text[sizeof engine_name + STDERR_TAIL_MAX + 256];
    char stderr_tail[STDERR_TAIL_MAX];
    int at = snprintf(text, sizeof text, "%s", engine_name), status = 0;
    bool ended = false; /* the kernel closes a process's descriptors a moment before waitpid() sees its end */
    for (int wait = 0; engine_pid > 0 && wait < 100 && !(ended = waitpid(engine_pid, &status, WNOHANG) == engine_pid); wait++) usleep(1000);
    if (ended && WIFSIGNALED(status)) at += snprintf(text + at, sizeof text - (size_t)at, " was killed by signal %d", WTERMSIG(status));
    else if (ended) at += snprintf(text + at, sizeof text - (size_t)at, " exited with status %d", WEXITSTATUS(status));
    off_t end = lseek(engine_stderr, 0, SEEK_END);
    ssize_t size = pread(engine_stderr, stderr_tail, sizeof stderr_tail, end > STDERR_TAIL_MAX ? end - STDERR_TAIL_MAX : 0);
    if (size > 0) snprintf(text + at, sizeof text - (size_t)at, "; it wrote: %.*s", (int)size, stderr_tail);
    return text;
}

const char *own_executable(void) {
    static char path[PATH_MAX];
    static const char deleted[] = " (deleted)"; /* an upgrade replaced the file: the path without this leads to the new one */
    if (*path != 0) return path;
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
    if (size <= 0) return NULL;
    path[size] = 0;
    char *end = path + size - strlen(deleted);
    if (end > path && strcmp(end, deleted) == 0) *end = 0;
    return path;
}

/* PLEXUS_HOME, else the link .plexus beside the executable, else /opt/plexus. */
static void find_home(char home[PATH_MAX]) {
    struct stat status;
    const char *configured = getenv("PLEXUS_HOME") ?: "", *executable = own_executable();
    if (executable == NULL) fail(CNI_IO, "Mount /proc where the runtime starts plugins.", "/proc/self/exe: %s", strerror(errno));
    const char *slash = strrchr(executable, '/');
    bool is_set = *configured != 0;
    int size = is_set ? snprintf(home, PATH_MAX, "%s", configured) : snprintf(home, PATH_MAX, "%.*s/.plexus", (int)(slash - executable), executable);
    if (size >= PATH_MAX || (!is_set && lstat(home, &status) != 0)) strcpy(home, "/opt/plexus");
}

static _Noreturn void fail_without_engine(const char *file) {
    fail(CNI_IO, "Start the daemon. Or install the directory with bin/node and engine.cjs as /opt/plexus, link .plexus beside the executable "
         "to it, or name it in PLEXUS_HOME.",
         "no engine: %s: %s (and no daemon listens on %s)", file, strerror(errno), daemon_socket());
}

static int start_engine(void) {
    char home[PATH_MAX], node[PATH_MAX + 16], script[PATH_MAX + 16];
    int sockets[2];
    find_home(home);
    snprintf(node, sizeof node, "%s/bin/node", home);
    snprintf(script, sizeof script, "%s/engine.cjs", home);
    snprintf(engine_name, sizeof engine_name, "the engine (%s %s)", node, script);
    if (access(script, R_OK) != 0) fail_without_engine(script);
    int dev_null = open("/dev/null", O_RDWR | O_CLOEXEC);
    engine_stderr = memory_file("plexus-engine-stderr");
    if (dev_null < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
        fail(CNI_TRY_LATER, "Check the limit of open files (RLIMIT_NOFILE).", "cannot start an engine: %s", strerror(errno));
    /* The engine ends a moment after the shim. It must hold none of the runtime's pipes: the runtime waits until they are closed. */
    char *arguments[] = {node, "--disable-warning=ExperimentalWarning", script, NULL};
    struct spawn program = {.argv = arguments, .environment = &(struct buffer){0}, .fds = {dev_null, dev_null, engine_stderr < 0 ? dev_null : engine_stderr, sockets[1]}};
    program.directory = "/";
    engine_pid = spawn(&program);
    if (engine_pid < 0) fail_without_engine(node);
    close(dev_null);
    close(sockets[1]);
    return sockets[0];
}

int connect_to_daemon(void) {
    snprintf(engine_name, sizeof engine_name, "the daemon (%s)", daemon_socket());
    return connect_to(daemon_socket());
}

/* Sends the first message. True: the daemon has sent a byte or closed the connection. False: it did neither within WELCOME_MS. */
static bool wait_for_answer(int fd, size_t *sent) {
    struct pollfd daemon = {.fd = fd};
    int64_t due = in_ms(WELCOME_MS), left;
    while ((daemon.revents & ~POLLOUT) == 0 && (left = due - now_us()) > 0) {
        *sent = stream_send(fd, &engine.out, *sent);
        daemon.events = *sent < engine.out.size ? POLLIN | POLLOUT : POLLIN;
        poll(&daemon, 1, (int)(left / 1000) + 1);
    }
    return (daemon.revents & ~POLLOUT) != 0;
}

/*
 * Whether the daemon accepts the call; it then has the first `sent` bytes of it. May replace `fd` by a new connection. A daemon of another
 * release refuses the call, because an update replaces files one by one; the one-shot engine beside the shim is of the shim's release. A daemon
 * that closes the connection without an answer may be ending, so the shim connects again until nobody listens.
 */
static bool daemon_accepts(int *fd, size_t *sent) {
    unsigned char start[FRAME_VERSION_AT + 1];
    for (int tries = 1; *fd >= 0; tries++) {
        *sent = 0;
        bool silent = !wait_for_answer(*fd, sent);
        if (silent) shutdown(*fd, SHUT_RD); /* A later WELCOME cannot arrive. An earlier one is valid: the daemon may have begun the call. */
        ssize_t size = recv(*fd, start, sizeof start, MSG_PEEK | MSG_DONTWAIT);
        if (size > 0) return size < (ssize_t)sizeof start || start[FRAME_VERSION_AT] == PROTOCOL_VERSION;
        if (silent || tries == WELCOME_TRIES) return !silent;
        close(*fd);
        if (tries > 1) poll(NULL, 0, WELCOME_PAUSE_MS);
        *fd = connect_to_daemon();
    }
    return false;
}

/* Starts a one-shot engine if errno says that no daemon listens; any other errno is an error. */
static int start_engine_or_fail(void) {
    const char *path = daemon_socket();
    if (errno == ENOENT || errno == ENOTDIR || errno == ECONNREFUSED) return start_engine();
    if (errno == EAGAIN)
        fail(CNI_TRY_LATER, "Repeat the call. Check the daemon's load and log.", "the daemon on %s accepts no connection within %d ms", path, CONNECT_MS);
    fail(CNI_IO, "Correct PLEXUS_SOCKET, or the socket's owner and mode.", "the daemon's socket %s: %s", path, strerror(errno));
}

int connect_to_engine(void) {
    const char *parent = getenv("PLEXUS_NESTED_CALLS") ?: "";
    bool nested = *parent != 0;
    read_environment(); /* now: an environment that is too large must fail with or without an engine */
    int fd = nested ? connect_to(parent) : connect_to_daemon();
    if (nested) snprintf(engine_name, sizeof engine_name, "the shim of the calling plugin (PLEXUS_NESTED_CALLS=%s)", parent);
    if (nested && fd < 0) fail(CNI_TRY_LATER, "Repeat the call. Unset PLEXUS_NESTED_CALLS if no plugin of Plexus made this call.", "%s: %s", engine_name, strerror(errno));
    awaits_welcome = !nested && fd >= 0;
    return fd >= 0 ? fd : start_engine_or_fail();
}

void open_engine_stream(int fd, enum frame_type type, struct message message) {
    size_t sent = 0;
    read_environment();
    message.environment = buffer_bytes(&environment);
    message_encode(&engine.out, type, 0, &message);
    buffer_free(&environment);
    if (awaits_welcome && !daemon_accepts(&fd, &sent)) {
        sent = 0;
        if (fd >= 0) close(fd);
        fd = fd >= 0 ? start_engine() : start_engine_or_fail();
    }
    buffer_drop_front(&engine.out, sent);
    stream_open(&engine, fd);
    stream_flush(&engine);
}
