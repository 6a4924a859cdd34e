/* The netlink messages that the node's policy allows. */
#ifndef PLEXUS_NETLINK_POLICY_H
#define PLEXUS_NETLINK_POLICY_H

#include "frame.h"

/*
 * Whether each message may be sent. `on_node`: the messages reach the shim's own namespace, so their types must be in the policy. Otherwise no
 * message may name a namespace but the effect's second one: through a socket in a pod's namespace the kernel changes links and lists addresses of any
 * namespace that a message names. Malformed messages end the check; the shim does not send them.
 */
bool netlink_is_allowed(uint32_t protocol, struct bytes messages, bool on_node);

/*
 * Whether the policy allows the moves and new names of existing links among the messages. `leaving`: links of the namespace in which the caller is get a
 * name or move out of it; otherwise links come to it, and each must have an allowed name there. New links are no moves.
 */
bool moves_are_allowed(uint32_t protocol, struct bytes messages, bool leaving);

#endif
