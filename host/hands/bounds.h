/* Every bound of the hands in one place. */
#ifndef PLEXUS_BOUNDS_H
#define PLEXUS_BOUNDS_H

#define PAYLOAD_MAX 33554432u          /* of one frame, as PROTOCOL.md has it */
#define CONTENT_MAX (PAYLOAD_MAX - 64) /* of one component */
#define STDIN_MAX (8u << 20)           /* what a runtime may write to us */
#define ENVIRONMENT_MAX (1u << 20)     /* all variables of our own environment together */
#define NESTED_PAYLOAD_MAX (STDIN_MAX + ENVIRONMENT_MAX + (64u << 10))
#define STDOUT_MAX (16u << 20)         /* EXEC's caps are cut to these, so that EXECUTED fits a frame */
#define STDERR_MAX (8u << 20)
#define QUEUE_MAX (128u << 20)         /* what may wait for a brain that does not read */
#define EFFECTS_MAX 64                 /* EXECs at once, nested calls at once: this many of each */
#define LINKS_MAX 4096                 /* components that one nest directory offers */

#define WORDS_MAX 2047                 /* of what a brain that died had written */

#define NETLINK_PIECE 65536            /* twice what the kernel puts into one message of a dump */
#define NETLINK_ROOM (1 << 20)         /* of the socket's receive buffer */
#define NETLINK_REPLY_MAX (16u << 20)  /* some 100 000 routes */
#define NETLINK_MS 10000
#define NETLINK_SECOND_FD 960          /* the second namespace's number, as PROTOCOL.md has it; ours are lower */
#define SYSCTL_MAX 65536               /* of one value */
#define PACKETS_MAX 64
#define PACKET_MAX 1500
#define NOBODY UINT32_MAX              /* instead of an owner or a group */

#define CONNECT_MS 1000                /* for a daemon that does not accept */
#define WELCOME_MS 2000                /* for one that accepts, and then says nothing */
#define WELCOME_TRIES 10               /* for one that hangs up before its welcome, */
#define WELCOME_PAUSE_MS 20            /* between them, but for the first two */
#ifndef STDIN_MS                       /* tests compile with shorter ones */
#define STDIN_MS 30000                 /* for a runtime that does not end our stdin */
#endif
#ifndef NESTED_MS
#define NESTED_MS 10000                /* for nested hands to send their request */
#endif
#ifndef RECONNECT_MS
#define RECONNECT_MS 1000              /* between tries of resident hands */
#endif
#define REAP_MS 1000                   /* for a killed process to be gone */

#endif
