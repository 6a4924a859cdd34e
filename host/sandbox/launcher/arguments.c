/* The launcher's arguments. All numbers are decimal, but the namespaces and the filter are hexadecimal. */
#include "launcher.h"

bool read_number(const char **text, unsigned long long *number) {
    const char *at = *text;
    *number = 0;
    for (; *at >= '0' && *at <= '9'; at++) *number = *number * 10 + (unsigned)(*at - '0');
    if (at == *text) return false;
    *text = at;
    return true;
}

/* Two numbers with a colon between them. */
static bool read_pair(const char *text, unsigned long long *first, unsigned long long *second) {
    return read_number(&text, first) && *text++ == ':' && read_number(&text, second) && *text == 0;
}

static int hex_digit(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

static bool read_hex(const char *text, unsigned long *number) {
    *number = 0;
    for (; *text != 0; text++) {
        if (hex_digit(*text) < 0) return false;
        *number = *number << 4 | (unsigned long)hex_digit(*text);
    }
    return true;
}

/* The bytes of the filter's instructions. */
static bool read_filter(struct jail *jail, const char *text) {
    size_t size = strlen(text) / 2;
    if (strlen(text) % (2 * sizeof *jail->filter) != 0 || size > sizeof jail->filter) return false;
    uint8_t *bytes = (uint8_t *)jail->filter;
    for (size_t i = 0; i < size; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    jail->filter_size = size / sizeof *jail->filter;
    return true;
}

static bool add_path(struct jail *jail, const char *path, bool executable) {
    if (path[0] != '/' || jail->path_count == MAX_PATHS) return false;
    jail->paths[jail->path_count++] = (struct readable){.path = path, .executable = executable, .fd = -1};
    return true;
}

bool add_limit(struct jail *jail, int resource, unsigned long long value) {
    if (jail->limit_count == MAX_LIMITS) return false;
    jail->limits[jail->limit_count].resource = resource;
    jail->limits[jail->limit_count++].value = value;
    return true;
}

static bool read_limit(struct jail *jail, const char *text) {
    unsigned long long resource, value;
    return read_pair(text, &resource, &value) && add_limit(jail, (int)resource, value);
}

static bool read_uids(struct jail *jail, const char *text) {
    unsigned long long first, count;
    if (!read_pair(text, &first, &count) || first == 0 || first + count > UINT32_MAX) return false;
    jail->first_uid = (unsigned)first;
    jail->uid_count = (unsigned)count;
    return true;
}

static bool read_id(const char *text, unsigned *id) {
    unsigned long long number;
    if (!read_number(&text, &number) || *text != 0 || number == 0 || number >= UINT32_MAX) return false;
    *id = (unsigned)number;
    return true;
}

static bool add_shared(struct jail *jail, const char *path, bool with_all_below) {
    if (path[0] != '/' || path[1] == 0 || jail->shared_count == SHARED_MAX) return false;
    jail->shared[jail->shared_count++] = (struct shared){.path = path, .with_all_below = with_all_below};
    return true;
}

static bool add_socket(struct paths *paths, const char *path) {
    if (path[0] != '/' || paths->count == SOCKETS_MAX) return false;
    paths->each[paths->count++] = path;
    return true;
}

static bool read_configuration(struct jail *jail, char *path) {
    char *slash = strrchr(path, '/');
    if (path[0] != '/' || slash == path || slash[1] == 0) return false;
    *slash = 0;
    jail->configuration = (struct configuration){.directory = path, .name = slash + 1, .type = "plexus"};
    return true;
}

static bool read_option(struct jail *jail, const char *name, char *value) {
    if (strcmp(name, "--uids") == 0) return read_uids(jail, value);
    if (strcmp(name, "--namespaces") == 0) return read_hex(value, &jail->namespaces);
    if (strcmp(name, "--read") == 0) return add_path(jail, value, false);
    if (strcmp(name, "--execute") == 0) return add_path(jail, value, true);
    if (strcmp(name, "--limit") == 0) return read_limit(jail, value);
    if (strcmp(name, "--filter") == 0) return read_filter(jail, value);
    if (strcmp(name, "--configuration") == 0) return read_configuration(jail, value);
    if (strcmp(name, "--type") == 0) return (jail->configuration.type = value) != NULL;
    if (strcmp(name, "--template") == 0) return (jail->configuration.template = value)[0] == '/';
    if (strcmp(name, "--kubeconfig") == 0) return (jail->configuration.kubeconfig = value)[0] == '/';
    if (strcmp(name, "--zygote") == 0) return jail->zygote_size < ZYGOTE_MAX && (jail->zygote[jail->zygote_size++] = value) != NULL;
    if (strcmp(name, "--supervisor") == 0) return (jail->supervisor_path = value) != NULL;
    if (strcmp(name, "--write") == 0) return jail->daemon_path_count < DAEMON_PATHS_MAX && (jail->daemon_paths[jail->daemon_path_count++] = value)[0] == '/';
    if (strcmp(name, "--daemon-uid") == 0) return read_id(value, &jail->daemon_uid);
    if (strcmp(name, "--join") == 0) return read_id(value, &jail->joined);
    if (strcmp(name, "--share") == 0) return add_shared(jail, value, true);
    if (strcmp(name, "--share-directory") == 0) return add_shared(jail, value, false);
    if (strcmp(name, "--connect") == 0) return add_socket(&jail->connected, value);
    if (strcmp(name, "--listen") == 0) return add_socket(&jail->listened, value);
    if (strcmp(name, "--cgroup") == 0) {
        jail->cgroup = value;
        return true;
    }
    return false;
}

bool read_arguments(struct jail *jail, char **argv) {
    for (argv++; *argv != NULL && strcmp(*argv, "--") != 0; argv += 2)
        if (argv[1] == NULL || !read_option(jail, argv[0], argv[1])) return false;
    if (*argv == NULL || argv[1] == NULL) return false;
    jail->command = argv + 1;
    return true;
}
