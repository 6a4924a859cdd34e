/* The agent: the shim as a long-running process that carries out the effects that the daemon starts on its own. */
#ifndef PLEXUS_AGENT_H
#define PLEXUS_AGENT_H

#include "common.h"

/*
 * Starts the search for the daemon. The loop then keeps the connection, and reconnects whenever it ends. `netlink_only`: the agent executes no
 * plugin, and says so in its greeting.
 */
void stay_with_daemon(bool netlink_only);

#endif
