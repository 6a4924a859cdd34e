/* Multus' key `binDir` of the CNI configuration: a directory that leads CNI_PATH. */
#ifndef PLEXUS_BIN_DIR_H
#define PLEXUS_BIN_DIR_H

#include "common.h"

/*
 * Finds it among the members of the JSON object on stdin, and puts it before what CNI_PATH has. The hands read it themselves, so
 * that no brain can have them look anywhere else than the runtime's configuration says. Only plain spelling counts (no escapes);
 * whether the rest is JSON, and whether the key was meant to count and didn't, the brain finds out.
 */
void lead_with_bin_dir(const char *json);

#endif
