/* The search for an engine that serves the runtime's call, within the call's time (PROTOCOL.md, "Where the shim finds an engine"). */
#ifndef PLEXUS_ENGINE_SEARCH_H
#define PLEXUS_ENGINE_SEARCH_H

#include "buffer.h"

/*
 * Opens the stream to the parent shim, a daemon or a one-shot engine, and sends the call with `configuration`, the content of stdin, which must
 * stay unchanged until the stream ends. Waits in the loop where there is no engine yet. Without an engine in time, the process ends with an error
 * that says what was tried.
 */
void find_engine(const struct buffer *configuration);

/*
 * Searches once more, because the daemon has said that it began nothing. False: this engine may not say so, or the search is over. The caller
 * must have carried out no effect of this engine.
 */
bool find_another_engine(void);

/* Whether the present stream is given up: its end is no error. */
bool is_searching(void);

#endif
