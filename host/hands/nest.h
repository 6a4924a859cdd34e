/* Nested calls: a directory of links to the hands that leads a plugin's CNI_PATH, and a socket in it. */
#ifndef PLEXUS_NEST_H
#define PLEXUS_NEST_H

#include "buffer.h"
#include "frame.h"
#include "loop.h"

struct nest {
    char path[sizeof((struct sockaddr_un *)0)->sun_path]; /* empty: there is none */
    int directory;
    struct buffer links; /* their names, each with a NUL */
    uint32_t under; /* channel of its EXEC */
    struct watch listener;
};

/* Makes the nest of the EXEC on `channel`. Answers 0 or an errno; there is none where `path` is empty or CNI_PATH has no component. */
int nest_open(struct nest *nest, struct bytes path, uint32_t channel);

/* Removes the directory and hangs up on all who called through it; twice is harmless. */
void nest_close(struct nest *nest);

/* Copies a plugin's environment, led to the nest where there is one. */
void nest_environment(const struct nest *nest, struct bytes environment, struct buffer *row);

/* Passes the brain's REPLY on to the nested hands; those may be gone, then nothing happens. */
void nest_reply(uint32_t channel, const struct message *reply);

#endif
