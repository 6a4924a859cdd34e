/* PACKET: packets sent from a link. */
#ifndef PLEXUS_PACKET_H
#define PLEXUS_PACKET_H

#include "network-effect.h"

/* Opens a packet socket. Answers a descriptor, or -1 with errno. */
int open_packet(const struct message *packet, struct done *done);

/* Sends the packets in order up to the first failure. */
void send_packets(int fd, const struct message *packet, struct done *done);

#endif
