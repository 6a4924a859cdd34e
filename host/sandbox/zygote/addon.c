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

/* V8 excludes its code and its pointer tables from copies (MADV_DONTFORK); a copy without them crashes. Answers the number of mappings that are included
   now, or -1. proc(5): `VmFlags` of such a mapping has `dc`. */
static int include_all_memory(void) {
    int included = 0;
    uintptr_t from = 0, to = 0;
    if (!read_maps()) return -1;
    for (char *line = maps, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = 0;
        char *at = line;
        uintptr_t first = read_address(&at);
        if (at > line && *at == '-') {
            at++;
            from = first;
            to = read_address(&at);
        }
        if (strncmp(line, "VmFlags:", 8) != 0 || !has_flag(line, " dc")) continue;
        if (syscall(SYS_madvise, from, to - from, MADV_DOFORK) != 0) return -1;
        included++;
    }
    return included;
}

/* A copy that crashed has perhaps shown a guest's author which addresses all copies have. The next zygote has others. */
static bool has_crashed(int status) { return WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL && WTERMSIG(status) != SIGTERM; }

static void look_at_children(int signals) {
    struct signalfd_siginfo signal;
    int status;
    while (read(signals, &signal, sizeof signal) > 0) continue;
    while (waitpid(-1, &status, WNOHANG) > 0)
        if (has_crashed(status)) _exit(0);
}

/* The process that starts the sandbox process and waits for it. Returns in the sandbox process. */
static void start(struct jail *jail, char *request, long size, const int fds[ASKED_FDS]) {
    struct state none = {0};
    char **probed = strcmp(jail->command[0], "probe") == 0 ? jail->command + 1 : NULL;
    if (dup2(fds[0], 0) < 0 || dup2(fds[1], 1) < 0) _exit(FAILED);
    close(fds[0]);
    close(fds[1]);
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

/* Returns in a sandbox process. */
static void answer_requests(struct jail *jail, int signals) {
    static char request[REQUEST_MAX];
    int fds[ASKED_FDS];
    unsigned long none = 0;
    for (;;) {
        struct pollfd ready[] = {{.fd = SERVER_FD, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
        if (poll(ready, 2, -1) < 0) continue;
        if (ready[1].revents != 0) look_at_children(signals);
        if (ready[0].revents == 0) continue;
        long size = receive_request(SERVER_FD, request, fds);
        if (size < 0) _exit(0);
        if (size == 0) continue;
        if (fork_into(&none) == 0) {
            close(SERVER_FD);
            close(signals);
            start(jail, request, size, fds);
            return;
        }
        for (int i = 0; i < ASKED_FDS; i++) close(fds[i]);
    }
}

static napi_value serve_copies(napi_env env, napi_info info) {
    static struct jail jail;
    size_t count = 1;
    napi_value list, numbers, number;
    sigset_t ended;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    if (napi_get_cb_info(env, info, &count, &list, NULL, NULL) != 0 || count != 1 || !read_strings(env, list) || !read_arguments(&jail, arguments)) _exit(BAD_USAGE);
    int signals = sigprocmask(SIG_BLOCK, &ended, NULL) == 0 ? signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK) : -1;
    prctl(PR_SET_NAME, "plexus-zygote", 0, 0, 0);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    /* The second look finds that nothing is left. */
    if (signals < 0 || include_all_memory() < 0 || include_all_memory() != 0) _exit(FAILED);
    answer_requests(&jail, signals);
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
