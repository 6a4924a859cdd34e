/* TAP: a persistent tap device. */
#ifndef PLEXUS_TAP_H
#define PLEXUS_TAP_H

#include "network-effect.h"

/* Opens /dev/net/tun. Answers a descriptor, or -1 with errno. */
int open_tap(const struct message *tap, struct done *done);

/* Makes the tap of this name with its owner and group. */
void make_tap(int fd, const struct message *tap, struct done *done);

#endif
