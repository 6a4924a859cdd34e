/* Nested calls: a directory of links to the hands that leads a plugin's CNI_PATH, and a socket in it. */
#ifndef PLEXUS_NEST_H
#define PLEXUS_NEST_H

#include "frame.h"

struct nest;

/* Makes the nest of the EXEC on `channel`. NULL: CNI_PATH has no component (*error 0), or it failed (*error: errno). */
struct nest *nest_open(struct bytes path, uint32_t channel, int *error);

/* Removes the directory and hangs up on all who called through it. NULL is allowed. */
void nest_close(struct nest *nest);

/* Copies a plugin's environment, led to the nest where there is one. */
void nest_environment(const struct nest *nest, struct bytes environment, struct buffer *row);

/* Passes the brain's REPLY on to the nested hands; those may be gone, then nothing happens. */
void nest_reply(uint32_t channel, const struct message *reply);

#endif
