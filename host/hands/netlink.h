/* NETLINK: rtnetlink messages, sent and answered in a network namespace. */
#ifndef PLEXUS_NETLINK_H
#define PLEXUS_NETLINK_H

#include "frame.h"

/* Answers at once: the kernel does what the messages ask for while they are sent. */
void answer_netlink(uint32_t channel, const struct message *netlink);

#endif
