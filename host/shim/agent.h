/* The agent: the shim as a long-running process that carries out the effects that the daemon starts on its own. */
#ifndef PLEXUS_AGENT_H
#define PLEXUS_AGENT_H

#include "common.h"

/*
 * Starts the search for the daemon. The loop then keeps the connection, and reconnects whenever it ends. `netlink_only`: the agent executes no
 * plugin, and says so in its greeting.
 */
void stay_with_daemon(bool netlink_only);

/* Executes the agent of the node whose root directory this is: that agent, and the plugins that it executes, see the node's files. */
_Noreturn void become_agent_in(const char *root);

#endif
