/* LOCK and UNLOCK: flock(2) on a file called `lock`, waited for beside everything else. */
#ifndef PLEXUS_LOCK_H
#define PLEXUS_LOCK_H

#include "frame.h"

void lock_begin(uint32_t channel, const struct message *lock);
void lock_release(uint32_t channel);
bool lock_is_on(uint32_t channel);

/* SIGCHLD came: answers for each lock that was waited for. */
void reap_locks(void);

#endif
