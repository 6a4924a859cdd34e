/* ZONE: sources of firewalld's zones, by one call of a method on the node's system bus (D-Bus). */
#ifndef PLEXUS_FIREWALLD_ZONE_H
#define PLEXUS_FIREWALLD_ZONE_H

#include "frame.h"

/* Calls the method, and answers with a DONE that has the bus' bytes. firewalld is not started by the call. */
void answer_zone(uint32_t channel, const struct message *zone);

#endif
