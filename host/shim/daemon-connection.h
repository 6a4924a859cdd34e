/* The connection to a daemon, up to its WELCOME (PROTOCOL.md, "Where the shim finds an engine"). */
#ifndef PLEXUS_DAEMON_CONNECTION_H
#define PLEXUS_DAEMON_CONNECTION_H

#include "buffer.h"

enum daemon_answer {
    DAEMON_ACCEPTS,
    DAEMON_ABSENT,        /* nobody listens, and errno says why */
    DAEMON_SILENT,        /* it hangs: the connection is closed, and the daemon cannot begin the call any more */
    DAEMON_OTHER_VERSION, /* of another protocol version */
    DAEMON_BUSY,          /* it accepts no connection within CONNECT_MS */
    DAEMON_UNREACHABLE,   /* the socket cannot be used, and errno says why */
};

/* The path of the daemon's socket. */
const char *daemon_socket(void);

/* Answers a socket connected to `path`, or -1 with errno. Waits at most CONNECT_MS for a place in a full backlog (then EAGAIN). */
int connect_to(const char *path);

/*
 * Sends `message` to the daemon and waits for WELCOME. With DAEMON_ACCEPTS `fd` is the connection, and the daemon has the first `sent` bytes.
 * A daemon that closes the connection without an answer may be ending, so the shim connects again until nobody listens.
 */
enum daemon_answer call_daemon(const struct buffer *message, int *fd, size_t *sent);

/* The protocol version of a daemon that answered with DAEMON_OTHER_VERSION. */
int daemon_version(void);

/* Milliseconds in which a daemon that has just gone may come back; 0: none was here lately. DAEMON_ABSENT with `error` must be the last answer. */
int64_t daemon_return_ms(int error, int64_t within_ms);

#endif
