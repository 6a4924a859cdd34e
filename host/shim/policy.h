/*
 * The policy that root keeps on the node: bounds of what an engine may ask. The text is a JSON object; each member is an array of patterns, in
 * which `*` stands for any characters but `/`. A missing member bounds nothing, an empty array forbids all.
 */
#ifndef PLEXUS_POLICY_H
#define PLEXUS_POLICY_H

#include "buffer.h"
#include "frame.h"

enum policy_list {
    POLICY_PLUGINS,      /* types that EXEC may run */
    POLICY_DIRECTORIES,  /* of CNI_PATH; the others are left out */
    POLICY_NODE_NETLINK, /* messages to the shim's own namespace, as `route/newlink` */
    POLICY_NODE_SYSCTLS, /* keys in the shim's own namespace */
    POLICY_POD_SYSCTLS,  /* keys in another namespace */
    POLICY_TAPS,         /* names of taps */
    POLICY_DEVICES,      /* names of the node's links that move into another namespace, and of links that come to the node */
    POLICY_FUNCTIONS,    /* names of the node's links whose virtual functions are set */
    POLICY_ASKS,         /* kinds of ASK */
    POLICY_TABLES,       /* nftables' tables in the shim's own namespace that messages change, as `netdev/NAME` */
    POLICY_ZONES,        /* zones of firewalld whose sources are changed or read */
    POLICY_CONTEXTS,     /* SELinux contexts in which taps are made */
    POLICY_LISTS,
};

struct policy {
    bool bounds[POLICY_LISTS]; /* the member exists */
    struct buffer patterns[POLICY_LISTS]; /* each with its NUL */
};

/* Reads the policy's text, which ends with a NUL. Answers NULL, or what is wrong in the line `*line`. `policy` begins as zeros. */
const char *policy_parse(const char *text, struct policy *policy, unsigned *line);

bool policy_has(const struct policy *policy, enum policy_list list, const char *value, size_t size);

#endif
