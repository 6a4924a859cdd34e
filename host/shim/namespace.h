/* Network namespaces by their paths. */
#ifndef PLEXUS_NAMESPACE_H
#define PLEXUS_NAMESPACE_H

#include "frame.h"

/* The shim's own network namespace. */
#define OWN_NAMESPACE "/proc/self/ns/net"

/* Opens the network namespace at `path`. With `foreign`, the shim's own namespace is refused (EXDEV). Answers a descriptor, or -1 with errno. */
int open_namespace(struct bytes path, bool foreign);

#endif
