/* NETLINK: messages over a socket of rtnetlink or netfilter. */
#ifndef PLEXUS_NETLINK_H
#define PLEXUS_NETLINK_H

#include "network-effect.h"

/* Opens the netlink socket. Answers a descriptor, or -1 with errno (EINVAL: malformed messages or another protocol). */
int open_netlink(const struct message *netlink, struct done *done);

/* Sends the messages and collects the kernel's answers. */
void use_netlink(int fd, const struct message *netlink, struct done *done);

/* Whether the socket stays open after the effect. */
bool netlink_keeps_open(int fd);

/* Closes the socket of an effect: one of netfilter a moment later, because the kernel would wait for an RCU grace period after a removal of rules or elements. */
void netlink_close(int fd, const struct message *netlink);

/*
 * Lets a netlink socket take messages of the kernel alone (netlink(7), connect(2)): a process with CAP_NET_ADMIN may otherwise fill its buffer. False: errno.
 */
bool hear_kernel_alone(int fd);

#endif
