#include "daemon-connection.h"
#include "frame.h"
#include "loop.h"
#include "stream.h"

static int version_met;

const char *daemon_socket(void) {
    const char *configured = getenv("PLEXUS_SOCKET") ?: "";
    return *configured != 0 ? configured : "/run/plexus/plexus.sock";
}

int daemon_version(void) { return version_met; }

int connect_to(const char *path) {
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

/* Sends the message. True: the daemon has sent a byte or closed the connection. False: it did neither within WELCOME_MS. */
static bool wait_for_answer(int fd, const struct buffer *message, size_t *sent) {
    struct pollfd daemon = {.fd = fd};
    int64_t due = in_ms(WELCOME_MS), left;
    while ((daemon.revents & ~POLLOUT) == 0 && (left = due - now_us()) > 0) {
        *sent = stream_send(fd, message, *sent);
        daemon.events = *sent < message->size ? POLLIN | POLLOUT : POLLIN;
        poll(&daemon, 1, (int)(left / 1000) + 1);
    }
    return (daemon.revents & ~POLLOUT) != 0;
}

static enum daemon_answer answer_of_errno(void) {
    if (errno == ENOENT || errno == ENOTDIR || errno == ECONNREFUSED) return DAEMON_ABSENT;
    return errno == EAGAIN ? DAEMON_BUSY : DAEMON_UNREACHABLE;
}

enum daemon_answer call_daemon(const struct buffer *message, int *fd, size_t *sent) {
    unsigned char start[FRAME_VERSION_AT + 1];
    for (int tries = 1; (*fd = connect_to(daemon_socket())) >= 0; tries++) {
        *sent = 0;
        bool silent = !wait_for_answer(*fd, message, sent);
        if (silent) shutdown(*fd, SHUT_RD); /* A later WELCOME cannot arrive. An earlier one is valid: the daemon may have begun the call. */
        ssize_t size = recv(*fd, start, sizeof start, MSG_PEEK | MSG_DONTWAIT);
        bool same = size < (ssize_t)sizeof start || start[FRAME_VERSION_AT] == PROTOCOL_VERSION;
        if (same && (size > 0 || (!silent && tries == WELCOME_TRIES))) return DAEMON_ACCEPTS;
        close(*fd);
        *fd = -1;
        if (!same) version_met = start[FRAME_VERSION_AT];
        if (!same || silent) return same ? DAEMON_SILENT : DAEMON_OTHER_VERSION;
        if (tries > 1) poll(NULL, 0, WELCOME_PAUSE_MS);
    }
    return answer_of_errno();
}

static int64_t milliseconds(struct timespec time) { return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000; }

/* Writes a byte, so that the file's time of change becomes now. The daemon, too, writes in the directory: another name of a foreign file is left alone. */
static bool renew(const char *mark) {
    struct stat status;
    int fd = open(mark, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    bool own = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1, written = own && pwrite(fd, "", 1, 0) == 1;
    close(fd); /* -1 where open failed: harmless */
    return written;
}

/*
 * A daemon that stops in good order removes its socket and renews the mark. After one that was killed the socket remains: the first shim that
 * meets it renews the mark. So calls wait in the first `within_ms`, and never because of a daemon that has been away for longer.
 */
int64_t daemon_return_ms(int error, int64_t within_ms) {
    char mark[PATH_MAX];
    struct stat gone, socket;
    struct timespec now;
    snprintf(mark, sizeof mark, "%s.away", daemon_socket());
    bool marked = stat(mark, &gone) == 0, killed = error == ECONNREFUSED && stat(daemon_socket(), &socket) == 0 && S_ISSOCK(socket.st_mode);
    if (killed && (!marked || milliseconds(gone.st_mtim) < milliseconds(socket.st_mtim))) marked = renew(mark) && stat(mark, &gone) == 0;
    if (!marked || clock_gettime(CLOCK_REALTIME, &now) != 0) return 0;
    int64_t ago = milliseconds(now) - milliseconds(gone.st_mtim);
    return ago < 0 || ago >= within_ms ? 0 : within_ms - ago;
}
