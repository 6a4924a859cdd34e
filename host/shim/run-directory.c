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

/* Beside the run directory: the daemon's group may write that directory, and rename what is in it. */
int slots_path(char *path, size_t size) {
    size_t length = strlen(directory);
    if (directory[0] != '/') return EINVAL;
    while (length > 1 && directory[length - 1] == '/') length--;
    return snprintf(path, size, "%.*s.one-shot", (int)length, directory) < (int)size ? 0 : ENAMETOOLONG;
}
