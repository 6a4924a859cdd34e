#include "plugin-path.h"

bool next_directory(const char **cursor, char directory[PATH_MAX]) {
    const char *at = *cursor == NULL ? getenv("CNI_PATH") : *cursor;
    while (at != NULL && *at != 0) {
        size_t size = strcspn(at, ":");
        const char *start = at;
        at += size;
        if (*at == ':') at++;
        if (size == 0 || size >= PATH_MAX) continue; /* an empty entry would mean the working directory */
        memcpy(directory, start, size);
        directory[size] = 0;
        *cursor = at;
        return true;
    }
    return false;
}

int open_component(const char *path, struct stat *status) {
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

static bool is_native(struct found *found) {
    if (stat(found->path, &found->status) != 0 || !S_ISREG(found->status.st_mode)) return false;
    found->kind = NATIVE;
    return true;
}

static bool is_component(struct found *found) {
    int fd = open_component(found->path, &found->status);
    if (fd < 0) return false;
    close(fd);
    found->kind = COMPONENT;
    return true;
}

void find_plugin(struct bytes type, enum wanted wanted, struct found *found) {
    char directory[PATH_MAX];
    found->kind = NOTHING;
    if (type.size > 0 && type.size <= NAME_MAX && memchr(type.data, '/', type.size) == NULL) {
        for (const char *cursor = NULL; next_directory(&cursor, directory);) {
            for (int try = 0; try < 2; try++) {
                bool component = (try == 0) == (wanted == COMPONENT_FIRST);
                if (component && wanted == NATIVE_ONLY) continue;
                int size = snprintf(found->path, PATH_MAX, "%s/%.*s%s", directory, (int)type.size, (const char *)type.data,
                                    component ? ".wasm" : "");
                if (size < PATH_MAX && (component ? is_component(found) : is_native(found))) return;
            }
        }
    }
    found->path[0] = 0;
}

int open_found_component(struct bytes path, struct stat *status) {
    static const char suffix[] = ".wasm";
    char directory[PATH_MAX], wanted[PATH_MAX];
    const uint8_t *slash = path.size == 0 ? NULL : memrchr(path.data, '/', path.size);
    size_t length = slash == NULL ? 0 : (size_t)(slash - path.data);
    errno = EACCES;
    if (slash == NULL || path.size >= PATH_MAX || path.size - length <= sizeof suffix) return -1;
    if (memcmp(path.data + path.size - strlen(suffix), suffix, strlen(suffix)) != 0) return -1;
    for (const char *cursor = NULL; next_directory(&cursor, directory);) {
        if (strlen(directory) != length || memcmp(directory, path.data, length) != 0) continue;
        memcpy(wanted, path.data, path.size);
        wanted[path.size] = 0;
        return open_component(wanted, status);
    }
    errno = EACCES;
    return -1;
}
