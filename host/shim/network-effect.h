/* The outcome of an effect in a network namespace: NETLINK, SYSCTL, PACKET, TAP, LABELLED_TAP or ASK. */
#ifndef PLEXUS_NETWORK_EFFECT_H
#define PLEXUS_NETWORK_EFFECT_H

#include "frame.h"

/*
 * An effect has up to two functions. The first runs in the network namespace and answers a descriptor that is bound to this namespace for
 * good, or -1 with errno. The second runs in the shim's own namespace and does its work on the descriptor. An ASK goes on after it, in the poll loop.
 */

/* The fields of a DONE frame. */
struct done {
    int error; /* 0 or an errno */
    bool begun; /* at least a part of the effect has reached the kernel */
    struct buffer out;
};

#endif
