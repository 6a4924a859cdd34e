#include "policy-file.h"
#include "cni-error.h"
#include "plugin-path.h"

static struct policy policy; /* of POLICY_FILE; zeros without the file */
static bool exists;

/* Only root may have written `fd` or anything in the directory of `path`. */
static const char *check_owner(int fd, const char *path, struct stat *status) {
    struct stat parent;
    char directory[PATH_MAX];
    snprintf(directory, sizeof directory, "%.*s", (int)(strrchr(path, '/') - path), path);
    if (fstat(fd, status) != 0 || stat(*directory == 0 ? "/" : directory, &parent) != 0) return strerror(errno);
    if (!S_ISREG(status->st_mode)) return "it is not a regular file";
    if (status->st_uid != 0 || (status->st_mode & 0022) != 0) return "it must belong to root and be writable by root alone (chown root, chmod 0644)";
    if (parent.st_uid != 0 || (parent.st_mode & 0022) != 0) return "its directory must belong to root and be writable by root alone";
    if (status->st_size > POLICY_MAX) return "it is larger than 64 KiB";
    return NULL;
}

static const char *parse(int fd, size_t size, unsigned *line) {
    struct buffer text = {0};
    buffer_reserve(&text, size + 1);
    const char *mistake = pread(fd, text.data, size, 0) == (ssize_t)size ? NULL : "it changed while it was read";
    text.data[size] = 0;
    if (mistake == NULL && memchr(text.data, 0, size) != NULL) mistake = "it contains a NUL";
    if (mistake == NULL) mistake = policy_parse((const char *)text.data, &policy, line);
    buffer_free(&text);
    return mistake;
}

const char *load_policy(void) {
    static char report[PATH_MAX];
    struct stat status;
    unsigned line = 0;
    for (int list = 0; list < POLICY_LISTS; list++) buffer_free(&policy.patterns[list]);
    policy = (struct policy){0};
    int fd = open(POLICY_FILE, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    exists = fd >= 0 || (errno != ENOENT && errno != ENOTDIR);
    if (!exists) return NULL;
    const char *mistake = fd < 0 ? strerror(errno) : check_owner(fd, POLICY_FILE, &status);
    if (mistake == NULL) mistake = parse(fd, (size_t)status.st_size, &line);
    close(fd); /* -1 where open failed: harmless */
    if (mistake == NULL) return NULL;
    if (line > 0) snprintf(report, sizeof report, "the node's policy " POLICY_FILE ", line %u: %s", line, mistake);
    else snprintf(report, sizeof report, "the node's policy " POLICY_FILE ": %s", mistake);
    return report;
}

bool policy_bounds(enum policy_list list) {
    return policy.bounds[list];
}

bool report_refusal(const char *what, size_t size) {
    static bool reported;
    char text[201];
    copy_printable(text, sizeof text, what, size);
    if (!reported) dprintf(STDERR_FILENO, "plexus: the node's policy " POLICY_FILE " does not allow %s\n", text);
    reported = true;
    return false;
}

bool policy_lists(enum policy_list list, const char *value, size_t size) {
    return policy_has(&policy, list, value, size);
}

bool policy_allows(enum policy_list list, const char *value, size_t size) {
    return policy_has(&policy, list, value, size) || report_refusal(value, size);
}

/* Whether a component of the path is `.` or `..`, which `*` would fit, too. */
static bool has_dots(const char *path, size_t size) {
    for (size_t at = 0, end; at < size; at = end + 1) {
        for (end = at; end < size && path[end] != '/';) end++;
        if (end > at && end - at <= 2 && memcmp(path + at, "..", end - at) == 0) return true;
    }
    return false;
}

bool policy_takes_bin_dir(const char *directory, size_t size) {
    bool listed = policy.bounds[POLICY_DIRECTORIES] && policy_has(&policy, POLICY_DIRECTORIES, directory, size) && !has_dots(directory, size);
    return !exists || listed || report_refusal(directory, size);
}

void restrict_cni_path(void) {
    static struct buffer whole; /* CNI_PATH before it was restricted: an agent reads the policy again */
    struct buffer path = {0};
    const char *present = getenv("CNI_PATH");
    if (whole.size > 0) setenv("CNI_PATH", (const char *)whole.data, 1);
    if (!policy.bounds[POLICY_DIRECTORIES]) return;
    if (whole.size == 0 && present != NULL) buffer_append(&whole, present, strlen(present) + 1);
    for (struct bytes directory = {0}; next_directory(&directory);) {
        if (!policy_allows(POLICY_DIRECTORIES, (const char *)directory.data, directory.size)) continue;
        if (path.size > 0) buffer_append(&path, ":", 1);
        buffer_append(&path, directory.data, directory.size);
    }
    buffer_append(&path, "", 1);
    setenv("CNI_PATH", (const char *)path.data, 1);
    buffer_free(&path);
}
