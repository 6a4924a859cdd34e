/* The way to a brain: parent hands, a daemon, or one started for this call (PROTOCOL.md, "Where the hands find a brain"). */
#ifndef PLEXUS_BRAIN_CONNECTION_H
#define PLEXUS_BRAIN_CONNECTION_H

#include "common.h"
#include "stream.h"

/* The stream to the brain. */
extern struct stream brain;

/* Says on `fd` what we are there for, REQUEST or RESIDENT, and opens the stream; `message` needs no environment, it gets ours. A daemon that
   gives a call no WELCOME is left for a brain of our own, which is told the same. */
void tell_purpose(int fd, enum frame_type type, struct message message);

void tell_brain(enum frame_type type, uint32_t channel, const struct message *message);

/* Absolute path of the running executable; NULL with errno where /proc isn't mounted. Looked for when it is wanted: with a daemon and
   native plugins it isn't. */
const char *own_executable(void);

/* Answers a socket connected to the daemon; -1 with errno: none listens, or not for us. */
int connect_to_daemon(void);

/* Answers a connected socket or ends the process with an error that says where it looked. */
int connect_to_brain(void);

/* Text for an error: who the brain was, how it ended, what it last wrote to its stderr. */
const char *brain_obituary(void);

#endif
