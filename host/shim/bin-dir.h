/* Multus' key `binDir` of the CNI configuration: a directory that is searched before those of CNI_PATH. */
#ifndef PLEXUS_BIN_DIR_H
#define PLEXUS_BIN_DIR_H

#include "common.h"

/*
 * Finds `binDir` among the members of the JSON object `json` and puts its value before CNI_PATH. The shim reads the key itself, so that an
 * engine can have plugins searched only where the runtime's configuration says. A key or value with escapes, or a value that the node's policy
 * does not take, has no effect. The engine judges whether the text is valid JSON and reports a `binDir` that has no effect.
 */
void prepend_bin_dir(const char *json);

#endif
