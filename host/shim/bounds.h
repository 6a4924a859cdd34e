/* Every bound of the shim in one place. */
#ifndef PLEXUS_BOUNDS_H
#define PLEXUS_BOUNDS_H

#define PAYLOAD_MAX 33554432u          /* of one frame, as PROTOCOL.md has it */
#define CONTENT_MAX (PAYLOAD_MAX - 64) /* of one component */
#define STDIN_MAX (8u << 20)           /* of the configuration that a runtime sends */
#define ENVIRONMENT_MAX (1u << 20)     /* of all variables of the shim's environment */
#define NESTED_PAYLOAD_MAX (STDIN_MAX + ENVIRONMENT_MAX + (64u << 10))
#define STDOUT_MAX (16u << 20)         /* upper bounds of EXEC's caps: EXECUTED must fit a frame */
#define STDERR_MAX (8u << 20)
#define QUEUE_MAX (128u << 20)         /* of frames that wait for an engine that does not read */
#define EFFECTS_MAX 64                 /* concurrent EXECs; also concurrent nested calls */
#define LINKS_MAX 4096                 /* components that one nested-call directory offers */

#define STDERR_TAIL_MAX 2047           /* of a dead engine's stderr, quoted in the error */

#define NETLINK_PIECE 262144           /* of one receipt: a link's message has lists of 64 KiB, such as its alternative names */
#define NETLINK_SEND_BUFFER (8 << 20)  /* SO_SNDBUF, which the kernel doubles: bounds one batch */
#define NETLINK_RECEIVE_BUFFER (1 << 20) /* SO_RCVBUF, which the kernel doubles */
#define NETLINK_REPLY_MAX (16u << 20)  /* some 100 000 routes */
#ifndef NETLINK_MS                     /* tests compile with other times */
#define NETLINK_MS 10000               /* upper bound of a NETLINK's deadline */
#endif
#define NETLINK_SECOND_FD 960          /* the second namespace's descriptor (PROTOCOL.md); the shim's others are lower */
#define NETLINK_COOKIE_PID 0x78656c70u /* the sender of the message with the namespace's cookie (PROTOCOL.md) */
#define SYSCTL_MAX 65536               /* of one value */
#define SYSCTLS_MAX (1u << 20)         /* of the values in one answer to SYSCTL */
#define SELINUX_CONTEXT_MAX 4096       /* the kernel reads one page */
#define PACKETS_MAX 64
#define PACKET_MAX 1500
#define ASKS_MAX 64                    /* ASKs at once */
#define ASK_MS 10000                   /* upper bound of an ASK's time */
#define CHANGES_MAX (1u << 20)         /* of the messages in one answer to CHANGES, and one piece more */
#define CHANGES_MS 60000               /* upper bound of a CHANGES' wait */
#define ZONE_REPLY_MAX 65536           /* of one message of the bus */
#define ZONE_MS 10000                  /* of a ZONE */
#define POLICY_MAX 65536               /* of the node's policy */
#ifndef POLICY_FILE                    /* tests compile with another path */
#define POLICY_FILE "/etc/plexus/policy.json"
#endif
#define NO_ID UINT32_MAX               /* a tap without an owner or a group */

#define ENGINES_MAX 4                  /* one-shot engines at once on a node */
#define CONNECT_MS 1000                /* wait for a daemon to accept the connection */
#ifndef WELCOME_MS                     /* tests compile with other times */
#define WELCOME_MS 2000                /* wait for a daemon's WELCOME */
#endif
#define WELCOME_TRIES 10               /* connections to a daemon that closes them before its WELCOME */
#define WELCOME_PAUSE_MS 20            /* between these connections, from the third on */
#ifndef SEARCH_MS
#define SEARCH_MS 30000                /* an ADD, DEL, CHECK or GC waits for an engine */
#endif
#define STATUS_SEARCH_MS 5000          /* a STATUS waits for a place among the one-shot engines */
#ifndef RETURN_MS
#define RETURN_MS 3000                 /* wait for the next daemon after one has gone, although a one-shot engine could be started */
#endif
#ifndef STATUS_RETURN_MS
#define STATUS_RETURN_MS 10000         /* wait of a STATUS for the next daemon, where no one-shot engine can be started */
#endif
#define SEARCH_PAUSE_MS 10             /* between the first tries of a search; doubles each time */
#define SEARCH_PAUSE_MAX_MS 80
#define SILENT_PAUSE_MS 5000           /* before a daemon that hangs is asked again */
#define ENGINE_PAUSE_MS 5000           /* before an engine that cannot be executed is started again */
#define REFUSED_PAUSE_MS 500           /* before a daemon of another protocol version is asked again */
#ifndef STDIN_MS
#define STDIN_MS 30000                 /* wait for the end of stdin */
#endif
#ifndef NESTED_MS
#define NESTED_MS 10000                /* wait for a nested call's REQUEST */
#endif
#ifndef RECONNECT_MS
#define RECONNECT_MS 1000              /* between an agent's attempts to connect */
#endif
#define REAP_MS 1000                   /* wait for a killed process to end */

#endif
