/* The shim that executed the native plugin which made this call. */
#ifndef PLEXUS_PARENT_SHIM_H
#define PLEXUS_PARENT_SHIM_H

#include "common.h"

/* The socket for nested calls that the environment names; NULL: this is no nested call. */
const char *parent_socket(void);

/* Connects to that socket. Answers the descriptor, or -1 with errno: EPERM where the listener is no ancestor of this process with its user. */
int connect_to_parent(void);

#endif
