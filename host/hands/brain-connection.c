#include "brain-connection.h"
#include "spawn.h"

struct stream brain;

static struct buffer environment; /* ours, as our purpose carries it */
static char who[PATH_MAX * 2 + 64] = "the brain";
static bool to_daemon;          /* who awaits a WELCOME */
static pid_t brain_pid;         /* of a one-shot brain */
static int words = -1;          /* its stderr: a file in memory, so that it can always go on writing, and the end can be quoted */

void tell_brain(enum frame_type type, uint32_t channel, const struct message *message) {
    message_encode(&brain.out, type, channel, message);
    stream_flush(&brain);
}

static void take_environment(void) {
    environment.size = 0;
    for (char **entry = environ; *entry != NULL; entry++) buffer_append(&environment, *entry, strlen(*entry) + 1);
    if (environment.size > ENVIRONMENT_MAX)
        fail(CNI_ENVIRONMENT, "Call the plugin with fewer or shorter variables.", "the environment is larger than %u bytes", ENVIRONMENT_MAX);
}

/* Answers a socket, or -1 with errno. A full backlog is waited for, CONNECT_MS at most (then EAGAIN). */
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
    const char *named = getenv("PLEXUS_SOCKET") ?: "";
    return *named != 0 ? named : "/run/plexus/plexus.sock";
}

const char *brain_obituary(void) {
    static char text[sizeof who + WORDS_MAX + 256];
    char last_words[WORDS_MAX];
    int at = snprintf(text, sizeof text, "%s", who), status = 0;
    bool ended = false; /* its descriptors are closed a moment before it is dead */
    for (int wait = 0; brain_pid > 0 && wait < 100 && !(ended = waitpid(brain_pid, &status, WNOHANG) == brain_pid); wait++) usleep(1000);
    if (ended && WIFSIGNALED(status)) at += snprintf(text + at, sizeof text - (size_t)at, " was killed by signal %d", WTERMSIG(status));
    else if (ended) at += snprintf(text + at, sizeof text - (size_t)at, " exited with status %d", WEXITSTATUS(status));
    off_t end = lseek(words, 0, SEEK_END);
    ssize_t size = pread(words, last_words, sizeof last_words, end > WORDS_MAX ? end - WORDS_MAX : 0);
    if (size > 0) snprintf(text + at, sizeof text - (size_t)at, "; it wrote: %.*s", (int)size, last_words);
    return text;
}

const char *own_executable(void) {
    static char path[PATH_MAX];
    static const char gone[] = " (deleted)"; /* replaced by an upgrade meanwhile: the path serves the new one */
    if (*path != 0) return path;
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
    if (size <= 0) return NULL;
    path[size] = 0;
    char *end = path + size - strlen(gone);
    if (end > path && strcmp(end, gone) == 0) *end = 0;
    return path;
}

/* PLEXUS_HOME, else the link .plexus beside the executable, else /opt/plexus. */
static void find_home(char home[PATH_MAX]) {
    struct stat status;
    const char *named = getenv("PLEXUS_HOME") ?: "", *executable = own_executable();
    if (executable == NULL) fail(CNI_IO, "Mount /proc where the runtime starts plugins.", "/proc/self/exe: %s", strerror(errno));
    const char *slash = strrchr(executable, '/');
    bool is_named = *named != 0;
    int size = is_named ? snprintf(home, PATH_MAX, "%s", named) : snprintf(home, PATH_MAX, "%.*s/.plexus", (int)(slash - executable), executable);
    if (size >= PATH_MAX || (!is_named && lstat(home, &status) != 0)) strcpy(home, "/opt/plexus");
}

static _Noreturn void no_brain(const char *what) {
    fail(CNI_IO, "Set PLEXUS_HOME to the directory that has bin/node and brain.cjs, make .plexus beside the executable a link to it, or "
         "install it as /opt/plexus; or start the daemon.",
         "no brain: %s: %s (and no daemon listens on %s)", what, strerror(errno), daemon_socket());
}

static int start_brain(void) {
    char home[PATH_MAX], node[PATH_MAX + 16], script[PATH_MAX + 16];
    int ends[2];
    find_home(home);
    snprintf(node, sizeof node, "%s/bin/node", home);
    snprintf(script, sizeof script, "%s/brain.cjs", home);
    snprintf(who, sizeof who, "the brain (%s %s)", node, script);
    if (access(script, R_OK) != 0) no_brain(script);
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    words = memory_file("plexus-brain-stderr");
    if (nothing < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        fail(CNI_TRY_LATER, "Check the limit of open files (RLIMIT_NOFILE).", "no way to a brain: %s", strerror(errno));
    /* The brain outlives us by the moment that it takes to end: it must hold nothing of the runtime's, who waits for
       its pipes to close. */
    char *arguments[] = {node, "--disable-warning=ExperimentalWarning", script, NULL};
    struct spawn program = {.argv = arguments, .environment = &(struct buffer){0}, .fds = {nothing, nothing, words < 0 ? nothing : words, ends[1]}};
    program.directory = "/";
    brain_pid = spawn(&program);
    if (brain_pid < 0) no_brain(node);
    close(nothing);
    close(ends[1]);
    return ends[0];
}

int connect_to_daemon(void) {
    snprintf(who, sizeof who, "the daemon (%s)", daemon_socket());
    return connect_to(daemon_socket());
}

/* Sends what is to be said; true once the daemon has said something, or hung up. False: nothing within WELCOME_MS. */
static bool answers(int fd, size_t *sent) {
    struct pollfd daemon = {.fd = fd};
    int64_t due = in_ms(WELCOME_MS), left;
    while ((daemon.revents & ~POLLOUT) == 0 && (left = due - now_us()) > 0) {
        *sent = stream_send(fd, &brain.out, *sent);
        daemon.events = *sent < brain.out.size ? POLLIN | POLLOUT : POLLIN;
        poll(&daemon, 1, (int)(left / 1000) + 1);
    }
    return (daemon.revents & ~POLLOUT) != 0;
}

/* Whether the daemon takes our call, `sent` bytes of which it has then; `fd` may be another afterwards. One of another release does not: an
   update goes on one file after the other, and what it brought has a brain of ours. Who is hung up on before a word came too late or is
   not wanted: the one whose daemon is dying finds nobody in the end, which may take it a while. */
static bool is_welcome(int *fd, size_t *sent) {
    unsigned char start[FRAME_VERSION_AT + 1];
    for (int tries = 1; *fd >= 0; tries++) {
        *sent = 0;
        bool hangs = !answers(*fd, sent);
        if (hangs) shutdown(*fd, SHUT_RD); /* no WELCOME arrives from here on; one that has, stands: then it serves us, and we end with it */
        ssize_t word = recv(*fd, start, sizeof start, MSG_PEEK | MSG_DONTWAIT);
        if (word > 0) return word < (ssize_t)sizeof start || start[FRAME_VERSION_AT] == PROTOCOL_VERSION;
        if (hangs || tries == WELCOME_TRIES) return !hangs;
        close(*fd);
        if (tries > 1) poll(NULL, 0, WELCOME_PAUSE_MS);
        *fd = connect_to_daemon();
    }
    return false;
}

/* A brain of our own, where errno says that there is no daemon. */
static int without_daemon(void) {
    const char *path = daemon_socket();
    if (errno == ENOENT || errno == ENOTDIR || errno == ECONNREFUSED) return start_brain();
    if (errno == EAGAIN)
        fail(CNI_TRY_LATER, "Look at the daemon's load and log.", "the daemon on %s accepts no connection within %d ms", path, CONNECT_MS);
    fail(CNI_IO, "Correct PLEXUS_SOCKET, or the socket's owner and mode.", "the daemon's socket %s: %s", path, strerror(errno));
}

int connect_to_brain(void) {
    const char *nest = getenv("PLEXUS_NEST") ?: "";
    bool nested = *nest != 0;
    take_environment(); /* too large a one is refused whether or not there is a brain */
    int fd = nested ? connect_to(nest) : connect_to_daemon();
    if (nested) snprintf(who, sizeof who, "the plexus that called this (PLEXUS_NEST=%s)", nest);
    if (nested && fd < 0) fail(CNI_TRY_LATER, "Repeat the call; unset PLEXUS_NEST if no plexus called this.", "%s: %s", who, strerror(errno));
    to_daemon = !nested && fd >= 0;
    return fd >= 0 ? fd : without_daemon();
}

void tell_purpose(int fd, enum frame_type type, struct message message) {
    size_t sent = 0;
    take_environment();
    message.environment = buffer_bytes(&environment);
    message_encode(&brain.out, type, 0, &message);
    buffer_free(&environment);
    if (to_daemon && !is_welcome(&fd, &sent)) {
        sent = 0;
        if (fd >= 0) close(fd);
        fd = fd >= 0 ? start_brain() : without_daemon();
    }
    buffer_drop_front(&brain.out, sent);
    stream_open(&brain, fd);
    stream_flush(&brain);
}
