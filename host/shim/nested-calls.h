/* Nested calls: the directory of links to the shim that comes first on a plugin's CNI_PATH, and the socket in it. */
#ifndef PLEXUS_NESTED_CALLS_H
#define PLEXUS_NESTED_CALLS_H

#include "frame.h"
#include "loop.h"

/* The dot keeps it apart from the links: a delegate may be called `sock`, and no link begins with a dot. */
#define NESTED_CALLS_SOCKET ".sock"

enum { NESTED_NAME_MAX = 64, NESTED_PATH_MAX = NESTED_NAME_MAX + 40 }; /* of the directory */

struct nested_calls {
    char path[NESTED_PATH_MAX]; /* of the directory; empty: there is none */
    int tmpfs, directory;
    uint32_t under; /* channel of the plugin's EXEC */
    struct watch listener;
    struct nested_calls *next; /* of those that are open */
};

/*
 * Makes the nested-call directory `name` for the EXEC on `channel`: 16 hexadecimal digits, or `call-` with digits and dashes (EINVAL). Makes none
 * where `name` is empty, CNI_PATH has no component, or a running EXEC has the directory already: the plugin then shares it. Answers 0 or an errno.
 */
int nested_calls_open(struct nested_calls *nested_calls, struct bytes name, uint32_t channel);

/* Removes the directory and closes the connections of its nested calls. A second call has no effect. */
void nested_calls_close(struct nested_calls *nested_calls);

/* Forwards the engine's REPLY to the nested shim. A nested shim that has ended gets nothing. */
void nested_calls_reply(uint32_t channel, const struct message *reply);

#endif
