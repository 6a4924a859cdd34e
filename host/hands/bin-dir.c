#include "bin-dir.h"

static bool is_space(uint8_t byte) { return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r'; }

static size_t skip_space(const uint8_t *json, size_t size, size_t at) {
    while (at < size && is_space(json[at])) at++;
    return at;
}

/* The closing quote of the string that begins before `at`; `size` where it has none. */
static size_t string_end(const uint8_t *json, size_t size, size_t at) {
    for (; at < size && json[at] != '"'; at++)
        if (json[at] == '\\') at++;
    return at < size ? at : size;
}

/* The string value behind the key that ends at `at`: its begin, and its length in `*length`; 0 where there is none. */
static size_t value_of(const uint8_t *json, size_t size, size_t at, size_t *length) {
    at = skip_space(json, size, at);
    if (at == size || json[at] != ':') return 0;
    at = skip_space(json, size, at + 1);
    if (at == size || json[at] != '"') return 0;
    size_t end = string_end(json, size, at + 1);
    if (end == size) return 0;
    *length = end - at - 1;
    return at + 1;
}

/* Absolute, no separator of CNI_PATH, no escape, nothing that an environment can't hold. */
static bool is_directory(const uint8_t *text, size_t length) {
    if (length == 0 || length >= PATH_MAX || text[0] != '/') return false;
    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] == ':' || text[i] == '\\') return false;
    return true;
}

static bool lead(const uint8_t *directory, size_t length) {
    const char *path = getenv("CNI_PATH");
    size_t rest = path == NULL ? 0 : strlen(path);
    char *both = malloc(length + 1 + rest + 1);
    if (both == NULL) return false; /* the brain misses it and says so */
    memcpy(both, directory, length);
    both[length] = 0;
    if (rest > 0) {
        both[length] = ':';
        memcpy(both + length + 1, path, rest + 1);
    }
    bool done = setenv("CNI_PATH", both, 1) == 0;
    free(both);
    return done;
}

bool lead_with_bin_dir(const uint8_t *json, size_t size) {
    static const char key[] = "binDir";
    size_t depth = 0, length;
    for (size_t at = 0; at < size; at++) {
        if (json[at] == '{' || json[at] == '[') depth++;
        if ((json[at] == '}' || json[at] == ']') && depth > 0) depth--;
        if (json[at] != '"') continue;
        size_t begin = at + 1;
        at = string_end(json, size, begin);
        if (at == size) return false;
        if (depth != 1 || at - begin != strlen(key) || memcmp(json + begin, key, strlen(key)) != 0) continue;
        size_t value = value_of(json, size, at + 1, &length);
        if (value != 0) return is_directory(json + value, length) && lead(json + value, length);
    }
    return false;
}
