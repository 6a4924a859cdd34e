/* The effects that are done in a network namespace: NETLINK, SYSCTL, PACKET, TAP. */
#ifndef PLEXUS_NAMESPACE_H
#define PLEXUS_NAMESPACE_H

#include "frame.h"

/* What becomes DONE. */
struct done {
    int error;
    bool begun; /* what was asked for has reached the kernel, in part at least */
    struct buffer out;
};

/* Answers at once: the kernel does what is asked for while it is told. */
void answer_in_namespace(const struct frame *frame, const struct message *effect);

/* Opens the network namespace of this path. -1: errno; EXDEV: it is the one that we are in, but must be a foreign one. */
int open_namespace(struct bytes path, bool foreign);

/*
 * An effect's first part runs in the namespace and answers a descriptor, which is bound to that namespace for good, or -1 with errno; the second
 * one goes on with it at home.
 */
int open_netlink(const struct message *netlink, struct done *done);
void use_netlink(int fd, const struct message *netlink, struct done *done);
/* Whether the descriptor is netlink's to close. */
bool is_kept(int fd);
int set_sysctls(const struct message *sysctl, struct done *done);
int open_packet(const struct message *packet, struct done *done);
void send_packets(int fd, const struct message *packet, struct done *done);
int open_tap(const struct message *tap, struct done *done);
void make_tap(int fd, const struct message *tap, struct done *done);

#endif
