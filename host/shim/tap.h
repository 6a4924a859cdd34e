/* TAP: a persistent tap device. LABELLED_TAP: one that is made in an SELinux context. */
#ifndef PLEXUS_TAP_H
#define PLEXUS_TAP_H

#include "network-effect.h"

/* Opens /dev/net/tun. Answers a descriptor, or -1 with errno. */
int open_tap(const struct message *tap, struct done *done);

/* Makes the tap of this name with its owner and group. */
void make_tap(int fd, const struct message *tap, struct done *done);

/* Executes the shim in the tap's SELinux context, where it makes the tap. Answers a descriptor without use, or -1 with errno. */
int make_labelled_tap(const struct message *tap, struct done *done);

/* Whether these are the arguments of the shim that make_labelled_tap() executes. */
bool is_tap_call(int argc, char **argv);

/* Makes the tap of such arguments. Answers 0 or an errno, which is the process' exit status. */
int make_tap_of(char **argv);

#endif
