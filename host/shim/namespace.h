/* Network namespaces by their paths. */
#ifndef PLEXUS_NAMESPACE_H
#define PLEXUS_NAMESPACE_H

#include "frame.h"

/* The shim's own network namespace. */
#define OWN_NAMESPACE "/proc/self/ns/net"

/*
 * Opens the network namespace at `path`, and tells in `is_own` whether it is the shim's own. Answers a descriptor, or -1 with errno (EINVAL:
 * not a namespace). A file that is no namespace is not opened: opening a device or a pipe has effects.
 */
int open_namespace(struct bytes path, bool *is_own);

#endif
