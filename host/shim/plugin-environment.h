/* The environment of plugins: the runtime's, with the variables that an engine may set. */
#ifndef PLEXUS_PLUGIN_ENVIRONMENT_H
#define PLEXUS_PLUGIN_ENVIRONMENT_H

#include "buffer.h"
#include "frame.h"

/*
 * The first of the `variables` that an engine may not set for a plugin; NULL where it may set all of them. An engine sets the variables of the
 * CNI call and of a trace, GOMAXPROCS and PLEXUS_CALLERS. All others are the runtime's: the loader's (LD_PRELOAD) or an interpreter's (NODE_OPTIONS,
 * BASH_ENV) would let an engine run its own code as root.
 */
const char *forbidden_variable(struct bytes variables);

/*
 * Appends a plugin's environment to `row` (`KEY=value\0`, repeated): the shim's own without the variables that an engine may set, then `variables`,
 * then CNI_PATH. With `nested_calls`, the path of a nested-call directory, CNI_PATH begins with it and PLEXUS_NESTED_CALLS names its socket.
 */
void append_plugin_environment(struct bytes variables, const char *nested_calls, struct buffer *row);

#endif
