/* Dispatches the effects that act in a network namespace: NETLINK, SYSCTL, PACKET, TAP, LABELLED_TAP, ASK. */
#ifndef PLEXUS_NAMESPACE_EFFECTS_H
#define PLEXUS_NAMESPACE_EFFECTS_H

#include "frame.h"

/* Carries out the effect and sends DONE before it returns: the kernel serves these effects within the system call. The DONE of an ASK comes later. */
void answer_in_namespace(const struct frame *frame, const struct message *effect);

#endif
