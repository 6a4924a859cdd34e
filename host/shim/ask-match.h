/* The packets that an ASK collects: five narrow kinds, each with fixed keys. */
#ifndef PLEXUS_ASK_MATCH_H
#define PLEXUS_ASK_MATCH_H

#include "frame.h"

/* The numbers in ASK (PROTOCOL.md). */
enum ask_kind { ASK_ARP = 1, ASK_NEIGHBOUR, ASK_DHCP, ASK_ECHO, ASK_ECHO6, ASK_KINDS };

/* Bytes of one key: an IPv4 address (ARP, echo), an IPv6 address (neighbour discovery, echo6), a DHCP transaction id. */
uint32_t ask_key_size(uint32_t kind);

/* Whether `packet`, which begins with its network header, answers a question about one of `keys`. */
bool ask_matches(uint32_t kind, struct bytes keys, struct bytes packet);

#endif
