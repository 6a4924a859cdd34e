/* The directory beside which the shim makes that of the slot files. */
#ifndef PLEXUS_RUN_DIRECTORY_H
#define PLEXUS_RUN_DIRECTORY_H

#include "frame.h"

/*
 * Takes the directory from the member `runDir` of the configuration `json`. The shim reads the key itself, so that an engine cannot
 * name another. Until then, and without the key, the directory is /run/plexus.
 */
void set_run_directory(const char *json);

/* Writes the path of the directory of slot files to `path`. Answers 0 or an errno: EINVAL where the run directory is not absolute, ENAMETOOLONG. */
int slots_path(char *path, size_t size);

/*
 * Makes a directory that only this user may enter, and its missing parents. Tries the directory itself first: its parents are missing only once
 * after a boot. False with errno, also if the directory exists.
 */
bool make_private_directory(char *path);

#endif
