/* CHANGES: the kernel's messages about links of the shim's own network namespace (RTNLGRP_LINK), kept between the engine's requests. */
#ifndef PLEXUS_LINK_CHANGES_H
#define PLEXUS_LINK_CHANGES_H

#include "frame.h"

/* Answers the messages since the last CHANGES, or waits for some. The first one of a connection begins to listen, and is answered at once. */
void answer_changes(uint32_t channel, const struct message *changes);

bool changes_wait_on(uint32_t channel);

/* Ends the wait without a DONE, and stops listening. */
void stop_changes(void);

#endif
