/* The directory in which the shim makes nested-call directories and slot files. */
#ifndef PLEXUS_RUN_DIRECTORY_H
#define PLEXUS_RUN_DIRECTORY_H

#include "frame.h"

/*
 * Takes the directory from the member `runDir` of the configuration `json`. The shim reads the key itself, so that an engine can name a
 * directory in it but no directory elsewhere. Until then, and without the key, the directory is /run/plexus.
 */
void set_run_directory(const char *json);

/* For an agent, which has no configuration: takes the directory from PLEXUS_RUN_DIR, if that is set. */
void set_run_directory_of_agent(void);

/*
 * Writes the path of the nested-call directory `name` to `path`. Answers 0 or an errno: EINVAL for a name that no nested-call directory has
 * (16 hexadecimal digits, or `call-` with digits and dashes) or a run directory that is not absolute, ENAMETOOLONG where the path has no room.
 */
int nested_call_path(struct bytes name, char *path, size_t room);

/* Writes the path of the directory of slot files to `path`. Answers 0 or an errno, as nested_call_path(). */
int slots_path(char *path, size_t room);

/*
 * Makes a directory that only this user may enter, and its missing parents. Tries the directory itself first: its parents are missing only once
 * after a boot. False with errno, also if the directory exists.
 */
bool make_private_directory(char *path);

#endif
