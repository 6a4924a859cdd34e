/* The zygote's native part: an addon of Node with one function, serve(ARGUMENTS). It waits for requests of the launch server and forks for each of them. It
   returns in a sandbox process only, which is in its jail then, with the numbers of its request. Between two forks this process runs no JavaScript, so
   that all copies are equal, and its other two threads wait: the threads' locks are free in every copy. */
#include "../launcher/launcher.h"

#include <sys/mman.h>

#define EXPORTED __attribute__((visibility("default")))

/* <node_api.h>: the ABI is stable. */
typedef struct opaque *napi_env, *napi_value, *napi_info;
typedef napi_value (*napi_function)(napi_env, napi_info);
extern int napi_create_function(napi_env, const char *, size_t, napi_function, void *, napi_value *);
extern int napi_get_cb_info(napi_env, napi_info, size_t *, napi_value *, napi_value *, void **);
extern int napi_get_array_length(napi_env, napi_value, uint32_t *);
extern int napi_get_element(napi_env, napi_value, uint32_t, napi_value *);
extern int napi_get_value_string_utf8(napi_env, napi_value, char *, size_t, size_t *);
extern int napi_get_value_int32(napi_env, napi_value, int32_t *);
extern int napi_create_array(napi_env, napi_value *);
extern int napi_create_string_utf8(napi_env, const char *, size_t, napi_value *);
extern int napi_set_element(napi_env, napi_value, uint32_t, napi_value);
extern int napi_set_named_property(napi_env, napi_value, const char *, napi_value);

enum { ARGUMENTS_MAX = 256, TEXT_MAX = 1 << 16, MAPS_MAX = 4 << 20 };

static char text[TEXT_MAX], maps[MAPS_MAX];
static char *arguments[ARGUMENTS_MAX + 1];

static bool read_strings(napi_env env, napi_value list) {
    uint32_t count;
    size_t used = 0, size;
    napi_value each;
    if (napi_get_array_length(env, list, &count) != 0 || count > ARGUMENTS_MAX) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (napi_get_element(env, list, i, &each) != 0 || napi_get_value_string_utf8(env, each, text + used, sizeof text - used, &size) != 0) return false;
        arguments[i] = text + used;
        used += size + 1;
        if (used >= sizeof text) return false;
    }
    return true;
}

static bool read_maps(void) {
    size_t size = 0;
    long got = 1;
    int fd = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && size < sizeof maps - 1 && (got = read(fd, maps + size, sizeof maps - 1 - size)) > 0) size += (size_t)got;
    if (fd >= 0) close(fd);
    maps[size] = 0;
    return fd >= 0 && got == 0;
}

static uintptr_t read_address(char **at) {
    uintptr_t address = 0;
    for (;; (*at)++) {
        char digit = **at;
        if (digit >= '0' && digit <= '9') address = address << 4 | (uintptr_t)(digit - '0');
        else if (digit >= 'a' && digit <= 'f') address = address << 4 | (uintptr_t)(digit - 'a' + 10);
        else return address;
    }
}

static bool has_flag(const char *line, const char *flag) {
    for (; *line != 0; line++)
        if (strncmp(line, flag, strlen(flag)) == 0) return true;
    return false;
}

/* V8 excludes its code and its pointer tables from copies (MADV_DONTFORK); a copy without them crashes. proc(5): `VmFlags` of such a mapping has `dc`. Shared
   memory is excluded (libuv's io_uring): a copy may change nothing of this process or of another copy. Answers the number of changed mappings, or -1. */
static int choose_memory(void) {
    int chosen = 0;
    uintptr_t from = 0, to = 0;
    bool is_shared = false;
    if (!read_maps()) return -1;
    for (char *line = maps, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = 0;
        char *at = line;
        uintptr_t first = read_address(&at);
        if (at > line && *at == '-') {
            at++;
            from = first;
            to = read_address(&at);
            is_shared = *at == ' ' && strlen(at) > 4 && at[4] == 's'; /* " rw-s" */
        }
        if (strncmp(line, "VmFlags:", 8) != 0 || has_flag(line, " dc") == is_shared) continue;
        if (syscall(SYS_madvise, from, to - from, is_shared ? MADV_DONTFORK : MADV_DOFORK) != 0) return -1;
        chosen++;
    }
    return chosen;
}

/* The process that starts the sandbox process and waits for it. Returns in the sandbox process. */
static void start(struct jail *jail, char *request, long size, const int fds[ASKED_FDS]) {
    struct state none = {0};
    char **probed = strcmp(jail->command[0], "probe") == 0 ? jail->command + 1 : NULL;
    if (dup2(fds[0], 0) < 0 || dup2(fds[1], 1) < 0) _exit(FAILED);
    close(fds[0]);
    close(fds[1]);
    signal(SIGCHLD, SIG_DFL);
    jail->own_uid_only = true;
    jail->command = NULL;
    if (!complete_jail(jail, request, size)) {
        errno = EINVAL;
        report(&none, "the request is not understood");
        _exit(BAD_USAGE);
    }
    char **numbers = jail->command;
    jail->command = NULL;
    int status = launch(jail, fds[2]);
    if (status != INSIDE) _exit(status);
    if (probed != NULL) probe(probed);
    jail->command = numbers;
}

/* Returns in a sandbox process. `crashes`: the end of a pipe that a supervisor writes to when its copy has crashed. */
static void answer_requests(struct jail *jail, int crashes) {
    static char request[REQUEST_MAX];
    int fds[ASKED_FDS];
    unsigned long none = 0;
    for (;;) {
        struct pollfd ready[] = {{.fd = SERVER_FD, .events = POLLIN}, {.fd = crashes, .events = POLLIN}};
        if (poll(ready, 2, -1) < 0) continue;
        /* The copy has perhaps shown a guest's author which addresses all copies have. The next zygote has others. */
        if (ready[1].revents != 0) _exit(0);
        long size = receive_request(SERVER_FD, request, fds);
        if (size < 0) _exit(0);
        if (size == 0 || fds[0] < 0) continue;
        if (fork_into(&none) == 0) {
            close(SERVER_FD);
            close(crashes);
            start(jail, request, size, fds);
            return;
        }
        for (int i = 0; i < ASKED_FDS; i++) close(fds[i]);
    }
}

static napi_value serve_copies(napi_env env, napi_info info) {
    static struct jail jail;
    size_t count = 1;
    int crashes[2];
    napi_value list, numbers, number;
    if (napi_get_cb_info(env, info, &count, &list, NULL, NULL) != 0 || count != 1 || !read_strings(env, list) || !read_arguments(&jail, arguments)) _exit(BAD_USAGE);
    prctl(PR_SET_NAME, "plexus-zygote", 0, 0, 0);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    /* The kernel removes children that have ended. A signal would be lost: another thread may take it. */
    signal(SIGCHLD, SIG_IGN);
    if (pipe2(crashes, O_CLOEXEC) != 0) _exit(FAILED);
    jail.crashes = crashes[1];
    jail.supervisor = open(jail.supervisor_path, O_PATH | O_CLOEXEC);
    /* The second look finds that nothing is left. */
    if (jail.supervisor < 0 || choose_memory() < 0 || choose_memory() != 0) _exit(FAILED);
    answer_requests(&jail, crashes[0]);
    prctl(PR_SET_NAME, "plexus-guest", 0, 0, 0);
    if (napi_create_array(env, &numbers) != 0) _exit(FAILED);
    for (uint32_t i = 0; jail.command[i] != NULL; i++)
        if (napi_create_string_utf8(env, jail.command[i], strlen(jail.command[i]), &number) != 0 || napi_set_element(env, numbers, i, number) != 0) _exit(FAILED);
    return numbers;
}

/* Ends a sandbox process. Node's own end would wait for threads that a copy does not have. */
static napi_value end(napi_env env, napi_info info) {
    size_t count = 1;
    int32_t status = FAILED;
    napi_value value;
    if (napi_get_cb_info(env, info, &count, &value, NULL, NULL) == 0 && count == 1) napi_get_value_int32(env, value, &status);
    _exit(status);
}

EXPORTED napi_value napi_register_module_v1(napi_env env, napi_value exports) {
    napi_value made;
    if (napi_create_function(env, "serve", 5, serve_copies, NULL, &made) == 0) napi_set_named_property(env, exports, "serve", made);
    if (napi_create_function(env, "end", 3, end, NULL, &made) == 0) napi_set_named_property(env, exports, "end", made);
    return exports;
}
