#include "bin-dir.h"
#include "buffer.h"
#include "json-member.h"
#include "policy-file.h"

/* Ignores a directory that is not absolute, has an escape, or holds a character that CNI_PATH or an environment cannot hold. */
static void prepend_to_cni_path(const char *directory, size_t length) {
    const char *old = getenv("CNI_PATH") ?: "";
    struct buffer path = {0};
    if (length == 0 || length >= PATH_MAX || directory[0] != '/') return;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)directory[i] < ' ' || directory[i] == ':' || directory[i] == '\\') return;
    buffer_append(&path, directory, length);
    if (*old != 0) buffer_append(&path, ":", 1);
    buffer_append(&path, old, strlen(old) + 1);
    setenv("CNI_PATH", (const char *)path.data, 1);
    buffer_free(&path);
}

void prepend_bin_dir(const char *json) {
    size_t length;
    const char *directory = json_string_member(json, "binDir", &length);
    if (directory != NULL && length > 0 && policy_takes_bin_dir(directory, length)) prepend_to_cni_path(directory, length);
}
