#include "plugin-path.h"

bool next_directory(struct bytes *directory) {
    const char *at = directory->data == NULL ? getenv("CNI_PATH") : (const char *)directory->data + directory->size;
    if (at == NULL) return false;
    at += strspn(at, ":"); /* an empty entry would be the working directory */
    *directory = (struct bytes){.data = (const uint8_t *)at, .size = (uint32_t)strcspn(at, ":")};
    return directory->size > 0;
}

size_t component_type_size(const char *file) {
    const char *suffix = strrchr(file, '.');
    return suffix == NULL || strcmp(suffix, ".wasm") != 0 ? 0 : (size_t)(suffix - file);
}

/* Opens a component: a regular file that begins with `\0asm` and layer 1. -1: errno, EINVAL for another file. */
static int open_component(const char *path, struct stat *status) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return -1;
    uint8_t start[8];
    /* bytes 4-5 are the binary version, 6-7 the layer: 0 a core module, 1 a component */
    if (fstat(fd, status) == 0 && S_ISREG(status->st_mode) && pread(fd, start, sizeof start, 0) == (ssize_t)sizeof start &&
        memcmp(start, "\0asm", 4) == 0 && start[6] == 1 && start[7] == 0)
        return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

/* Whether `found->path` is a file of kind `found->kind`. */
static bool is_plugin(struct found *found) {
    if (found->kind == NATIVE) return stat(found->path, &found->status) == 0 && S_ISREG(found->status.st_mode);
    int fd = open_component(found->path, &found->status);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

static bool is_any_file(struct found *found) {
    return stat(found->path, &found->status) == 0;
}

/* Sets `found` to the first file of this type that `accepts` takes. */
static void find_by(bool (*accepts)(struct found *), struct bytes type, enum wanted wanted, struct found *found) {
    bool is_name = type.size > 0 && type.size <= NAME_MAX && memchr(type.data, '/', type.size) == NULL;
    for (struct bytes directory = {0}; is_name && next_directory(&directory);) {
        for (int try = 0; try < (wanted == NATIVE_ONLY ? 1 : 2); try++) {
            found->kind = (try == 0) == (wanted == COMPONENT_FIRST) ? COMPONENT : NATIVE;
            int size = snprintf(found->path, PATH_MAX, "%.*s/%.*s%s", (int)directory.size, (const char *)directory.data, (int)type.size,
                                (const char *)type.data, found->kind == COMPONENT ? ".wasm" : "");
            if (size < PATH_MAX && accepts(found)) return;
        }
    }
    found->kind = NOTHING;
    found->path[0] = 0;
}

void find_plugin(struct bytes type, enum wanted wanted, struct found *found) {
    find_by(is_plugin, type, wanted, found);
}

void find_for_plan(struct bytes type, enum wanted wanted, struct found *found) {
    find_by(is_plugin, type, wanted, found);
    if (found->kind == NOTHING) find_by(is_any_file, type, wanted, found);
    else if (found->kind == COMPONENT || (found->status.st_mode & 0111) != 0) return;
    found->kind = NOTHING;
}

/* The suffix of the file with a component's signatures (src/oci/signatures-file.ts). */
static const char signatures[] = ".signatures.json";

/* Whether `file` is T.wasm.signatures.json. */
static bool is_signatures_name(const char *file) {
    char component[NAME_MAX + 1];
    size_t size = strlen(file), suffix = sizeof signatures - 1;
    if (size > NAME_MAX || size <= suffix || strcmp(file + size - suffix, signatures) != 0) return false;
    snprintf(component, sizeof component, "%.*s", (int)(size - suffix), file);
    return component_type_size(component) > 0;
}

/* Opens a regular file. -1: errno, EINVAL for another kind of file. */
static int open_regular(const char *path, struct stat *status) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || (fstat(fd, status) == 0 && S_ISREG(status->st_mode))) return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

int open_found_component(struct bytes path, struct stat *status) {
    char wanted[PATH_MAX];
    int size = snprintf(wanted, sizeof wanted, "%.*s", (int)path.size, (const char *)path.data);
    const char *slash = strrchr(wanted, '/');
    bool is_signatures = size < PATH_MAX && slash != NULL && is_signatures_name(slash + 1);
    bool is_name = is_signatures || (size < PATH_MAX && slash != NULL && component_type_size(slash + 1) > 0);
    for (struct bytes directory = {0}; is_name && next_directory(&directory);)
        if (directory.size == (size_t)(slash - wanted) && memcmp(directory.data, wanted, directory.size) == 0)
            return is_signatures ? open_regular(wanted, status) : open_component(wanted, status);
    errno = EACCES;
    return -1;
}
