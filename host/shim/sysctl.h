/* SYSCTL: reads and writes values below /proc/sys/net. */
#ifndef PLEXUS_SYSCTL_H
#define PLEXUS_SYSCTL_H

#include "network-effect.h"

/* Sets the values in order up to the first failure. Answers a descriptor of /proc/sys, or -1 with errno. */
int set_sysctls(const struct message *sysctl, struct done *done);

#endif
