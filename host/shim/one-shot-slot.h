/* Slots: files whose locks bound how many one-shot engines run at once on a node. */
#ifndef PLEXUS_ONE_SHOT_SLOT_H
#define PLEXUS_ONE_SHOT_SLOT_H

#include "common.h"

/*
 * Locks a free slot file beside the run directory. The lock belongs to the open file, so it ends when the last process that inherited the descriptor
 * ends, however it ends. `any`: also the slot that is kept for calls that undo. Answers the descriptor, or -1 with errno: EAGAIN if the slots
 * are in use; anything else if there can be no slot files, because the directory is not this user's alone, for example.
 */
int take_slot(bool any);

#endif
