/* The stream to an engine: the parent shim, a daemon, or a one-shot engine. */
#ifndef PLEXUS_ENGINE_CONNECTION_H
#define PLEXUS_ENGINE_CONNECTION_H

#include "common.h"
#include "stream.h"

/* The stream to the engine. */
extern struct stream engine;
/* The protocol's rule that the engine broke by a well-formed frame, for the error. Begins with a colon. */
extern char engine_violation[128];

/* Ends the process with an error if the environment is too large for a message. */
void check_environment(void);

/*
 * Puts the first message, REQUEST or AGENT, into the stream's output, in place of what is there. The message gets the shim's environment, and
 * the time that the call has waited for an engine if that is not 0.
 */
void encode_first_message(enum frame_type type, struct message message, uint32_t waited_ms);

/* Opens the stream on `fd`, whose peer has the first `sent` bytes of the output. */
void open_engine_stream(int fd, size_t sent);

void send_to_engine(enum frame_type type, uint32_t channel, const struct message *message);

/* Names the engine for errors. */
void name_engine(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Text for an error: which engine it was, how it ended, and the last lines of its stderr. */
const char *describe_engine(void);

#endif
