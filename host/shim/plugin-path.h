/* Looks plugin types up on CNI_PATH. */
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

/* Iterates over the directories of the shim's CNI_PATH. `directory` starts empty. False: the end. */
bool next_directory(struct bytes *directory);

/* The length of T in a file name T.wasm; 0 for any other name. */
size_t component_type_size(const char *file);

/* Finds the first plugin of this type. `found->kind` is NOTHING where no directory has it. */
void find_plugin(struct bytes type, enum wanted wanted, struct found *found);

/*
 * As find_plugin, but ignores a native plugin without an execute permission. With NOTHING, `path` names the first file of this name that is
 * not a plugin, or is empty.
 */
void find_for_plan(struct bytes type, enum wanted wanted, struct found *found);

/*
 * Opens a component that find_plugin can name, or the signatures of one: a file *.wasm or *.wasm.signatures.json directly in a directory of
 * CNI_PATH. Answers a descriptor, or -1 with errno (EACCES: another path; EINVAL: not a component, not a regular file).
 */
int open_found_component(struct bytes path, struct stat *status);

#endif
