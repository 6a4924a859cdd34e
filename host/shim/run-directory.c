#include "run-directory.h"
#include "json-member.h"

static char directory[PATH_MAX] = "/run/plexus"; /* empty: the configured one is not usable */

/* Takes the JSON string `text`. Of the escapes only `\/` can stand in a path that the engine accepts. */
static void set_from(const char *text, size_t length) {
    size_t size = 0;
    for (size_t at = 0; at < length && size + 1 < sizeof directory; at++) {
        if (text[at] == '\\' && (at + 1 == length || text[++at] != '/')) break;
        directory[size++] = text[at];
        if (at + 1 == length) {
            directory[size] = 0;
            return;
        }
    }
    directory[0] = 0;
}

void set_run_directory(const char *json) {
    size_t length;
    const char *configured = json_string_member(json, "runDir", &length);
    if (configured != NULL) set_from(configured, length);
}

void set_run_directory_of_agent(void) {
    const char *configured = getenv("PLEXUS_RUN_DIR") ?: "";
    if (*configured != 0 && strlen(configured) < sizeof directory) strcpy(directory, configured);
}

static bool consists_of(const uint8_t *text, size_t size, const char *characters) {
    for (size_t at = 0; at < size; at++)
        if (text[at] == 0 || strchr(characters, text[at]) == NULL) return false;
    return true;
}

static bool is_name(struct bytes name) {
    static const char prefix[] = "call-";
    size_t start = sizeof prefix - 1;
    if (name.size == 16 && consists_of(name.data, 16, "0123456789abcdef")) return true;
    return name.size > start && memcmp(name.data, prefix, start) == 0 && consists_of(name.data + start, name.size - start, "0123456789-");
}

int nested_call_path(struct bytes name, char *path, size_t room) {
    if (directory[0] != '/' || !is_name(name)) return EINVAL;
    int size = snprintf(path, room, "%s/%.*s", directory, (int)name.size, (const char *)name.data);
    return size < (int)room ? 0 : ENAMETOOLONG;
}

bool make_private_directory(char *path) {
    if (mkdir(path, 0700) == 0) return true;
    if (errno != ENOENT) return false;
    for (char *slash = path; (slash = strchr(slash + 1, '/')) != NULL; *slash = '/') {
        *slash = 0;
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        if (!made) return *slash = '/', false;
    }
    return mkdir(path, 0700) == 0;
}

int slots_path(char *path, size_t room) {
    if (directory[0] != '/') return EINVAL;
    return snprintf(path, room, "%s/one-shot", directory) < (int)room ? 0 : ENAMETOOLONG;
}
