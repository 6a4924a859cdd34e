/* EXEC: native plugins, each a process group with three pipes and a deadline. */
#ifndef PLEXUS_RUN_PLUGIN_H
#define PLEXUS_RUN_PLUGIN_H

#include "frame.h"

enum outcome { EXITED, SIGNALLED, DEADLINE_PASSED, NOT_FOUND, NOT_STARTABLE, TEXT_BUSY };

/* Starts what EXEC asks for, or answers at once why not. */
void run_plugin(uint32_t channel, const struct message *exec);

bool plugin_runs_on(uint32_t channel);

/* SIGCHLD came: answers for each plugin that ended. */
void reap_plugins(void);

/* Kills every plugin's process group and waits, a bounded time, until they are gone. Answers nobody. */
void stop_plugins(void);

#endif
