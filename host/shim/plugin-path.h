/* Where a plugin type is found: on CNI_PATH, and nowhere else. */
#ifndef PLEXUS_PLUGIN_PATH_H
#define PLEXUS_PLUGIN_PATH_H

#include "common.h"
#include "frame.h"

enum wanted { NATIVE_ONLY, NATIVE_FIRST, COMPONENT_FIRST };
enum found_kind { NOTHING, NATIVE, COMPONENT };

struct found {
    enum found_kind kind;
    char path[PATH_MAX];
    struct stat status;
};

/* Directories of our own CNI_PATH one after the other; `directory` starts empty. False: no more. */
bool next_directory(struct bytes *directory);

/* How long T is where a file is called T.wasm, 0 where it is called otherwise. */
size_t component_type_size(const char *file);

void find_plugin(struct bytes type, enum wanted wanted, struct found *found);

/* As find_plugin, but a native one that nobody may execute is none, and with NOTHING `path` names what has the name and is no plugin; empty
   where nothing has. */
void find_for_plan(struct bytes type, enum wanted wanted, struct found *found);

/* Opens a component that find_plugin can name: directly in a directory of CNI_PATH, called *.wasm. -1: errno says why, EINVAL that it
   is none. */
int open_found_component(struct bytes path, struct stat *status);

#endif
