/* EXEC: runs native plugins, each as a process group with a deadline. */
#ifndef PLEXUS_RUN_PLUGIN_H
#define PLEXUS_RUN_PLUGIN_H

#include "frame.h"

enum outcome { EXITED, SIGNALLED, DEADLINE_PASSED, NOT_FOUND, NOT_STARTABLE, TEXT_BUSY };

/* From now on every EXEC is refused with EPERM. */
void forbid_plugins(void);

/* Starts the plugin, or sends EXECUTED at once with the reason why it did not start. */
void run_plugin(uint32_t channel, const struct message *exec);

bool plugin_runs_on(uint32_t channel);

/* After SIGCHLD: sends EXECUTED for each plugin that has ended. */
void reap_plugins(void);

/* Kills all plugins' process groups and waits a bounded time for their end. Sends nothing. */
void stop_plugins(void);

#endif
