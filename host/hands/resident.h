/* Resident hands: no runtime called them; they stay, and carry out what a daemon does on its own. */
#ifndef PLEXUS_RESIDENT_H
#define PLEXUS_RESIDENT_H

#include "common.h"

/* Begins to look for the daemon; from then on the loop keeps the connection, and makes another when it ends. */
void stay_with_daemon(void);

#endif
