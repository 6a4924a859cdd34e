/* The connection to an engine: the parent shim, a daemon, or a one-shot engine (PROTOCOL.md, "Where the shim finds an engine"). */
#ifndef PLEXUS_ENGINE_CONNECTION_H
#define PLEXUS_ENGINE_CONNECTION_H

#include "common.h"
#include "stream.h"

/* The stream to the engine. */
extern struct stream engine;
/* Which rule of the protocol the engine broke by a well-formed frame, for the error; begins with a colon. */
extern char engine_violation[128];

/*
 * Sends the first message, REQUEST or AGENT, on `fd` with the shim's environment, and opens the stream. If a daemon gives a call no WELCOME,
 * the shim starts a one-shot engine and sends it the same message.
 */
void open_engine_stream(int fd, enum frame_type type, struct message message);

void send_to_engine(enum frame_type type, uint32_t channel, const struct message *message);

/*
 * Absolute path of the running executable; NULL with errno where /proc is not mounted. Read on the first call: a call of native plugins
 * through a daemon never needs it.
 */
const char *own_executable(void);

/* Answers a socket connected to the daemon, or -1 with errno. */
int connect_to_daemon(void);

/* Answers a connected socket, or ends the process with an error that names the sockets and files it tried. */
int connect_to_engine(void);

/* Text for an error: which engine it was, how it ended, and the last lines of its stderr. */
const char *describe_engine(void);

#endif
