/* ASK: packets sent from a link, and answers of one narrow kind that are collected for a bounded time. */
#ifndef PLEXUS_ASK_H
#define PLEXUS_ASK_H

#include "network-effect.h"

/* The name of the ASK's kind, as the node's policy spells it; NULL: unknown. */
const char *ask_kind_name(uint32_t kind);

/* Opens a packet socket that receives nothing yet. Answers a descriptor, or -1 with errno. */
int open_ask(const struct message *ask, struct done *done);

/*
 * Sends the packets and begins to collect. True: the descriptor belongs to the ASK from now on, and its DONE is sent later. False: `done` has
 * the error.
 */
bool begin_ask(int fd, uint32_t channel, const struct message *ask, struct done *done);

bool ask_runs_on(uint32_t channel);

/* Ends all ASKs without a DONE. */
void stop_asks(void);

#endif
