/* The one-shot engine: Node, as a child of the shim, for one call (PROTOCOL.md, "Where the shim finds an engine"). */
#ifndef PLEXUS_ONE_SHOT_ENGINE_H
#define PLEXUS_ONE_SHOT_ENGINE_H

#include "common.h"

/*
 * Absolute path of the running executable; NULL with errno where /proc is not mounted. Read on the first call: a call of native plugins
 * through a daemon never needs it.
 */
const char *own_executable(void);

/* The engine's files, once has_engine() has looked for them. */
extern char engine_node[PATH_MAX + 16], engine_script[PATH_MAX + 16];

/* Whether the node has an engine. If not, errno says why. */
bool has_engine(void);

/* The file that is missing or cannot be executed. */
const char *missing_file(void);

/*
 * Starts the engine, which inherits the descriptor `slot` (-1: none) and closes it here. Answers the socket to it; -1 with errno if the engine
 * cannot be executed.
 */
int start_engine(int slot);

/* Appends how the engine ended, and the last lines of its stderr, to the text of `capacity` bytes that is `size` bytes long. Answers the new size. */
int describe_end(char *text, int size, size_t capacity);

#endif
