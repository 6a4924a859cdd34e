#include "nested-calls.h"
#include "engine-connection.h"
#include "one-shot-engine.h"
#include "plugin-path.h"
#include "private-tmpfs.h"

struct caller {
    struct nested_calls *nested_calls; /* NULL: a free slot */
    struct stream stream;
    uint32_t channel; /* 0: its REQUEST has not come yet */
};

static struct caller callers[EFFECTS_MAX];

static void hang_up(struct stream *stream, UNUSED enum stream_end end) {
    stream_close(stream);
    HOLDER(struct caller, stream, stream)->nested_calls = NULL;
}

static bool forward_request(struct stream *stream, const struct frame *frame, const struct message *request) {
    static uint32_t last_channel;
    struct caller *caller = HOLDER(struct caller, stream, stream);
    if (frame->type != REQUEST || frame->channel != 0 || request->under != 0 || caller->channel != 0) return false;
    stream->watch.due = NEVER;
    caller->channel = last_channel = (last_channel + 1) | NESTED_CHANNEL;
    struct message forwarded = *request;
    forwarded.under = caller->nested_calls->under;
    send_to_engine(REQUEST, caller->channel, &forwarded);
    return true;
}

static void accept_caller(struct watch *watch, UNUSED short revents) {
    struct caller *caller = callers;
    struct ucred peer;
    socklen_t size = sizeof peer;
    int fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) return;
    while (caller < callers + EFFECTS_MAX && caller->nested_calls != NULL) caller++;
    if (caller == callers + EFFECTS_MAX || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != geteuid()) {
        close(fd);
        return;
    }
    *caller = (struct caller){.nested_calls = watch->owner, .stream = {.payload_max = NESTED_PAYLOAD_MAX, .on_frame = forward_request, .on_end = hang_up}};
    stream_open(&caller->stream, fd);
    caller->stream.watch.due = in_ms(NESTED_MS);
}

void nested_calls_reply(uint32_t channel, const struct message *reply) {
    for (struct caller *caller = callers; caller < callers + EFFECTS_MAX; caller++) {
        if (caller->nested_calls == NULL || caller->channel != channel) continue;
        message_encode(&caller->stream.out, REPLY, 0, reply);
        stream_flush(&caller->stream);
    }
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

/*
 * Makes the directory in a tmpfs of its own: in a directory that has a path on the node, a daemon that runs as root could put its own programs.
 * The plugin and what it executes reach the tmpfs through this process. /proc/self has this process' id as this /proc counts.
 */
static bool make_directory(struct nested_calls *nested_calls, struct bytes name) {
    char self[16] = "", sub[NESTED_NAME_MAX + 1];
    if (readlink("/proc/self", self, sizeof self - 1) <= 0) return false;
    snprintf(sub, sizeof sub, "%.*s", (int)name.size, (const char *)name.data);
    nested_calls->tmpfs = open_private_tmpfs();
    if (nested_calls->tmpfs < 0 || mkdirat(nested_calls->tmpfs, sub, 0700) != 0) return false;
    nested_calls->directory = openat(nested_calls->tmpfs, sub, O_PATH | O_DIRECTORY | O_CLOEXEC);
    snprintf(nested_calls->path, sizeof nested_calls->path, "/proc/%s/fd/%d/%s", self, nested_calls->tmpfs, sub);
    return nested_calls->directory >= 0;
}

/*
 * The target of the links: the path by which this shim was executed, if it has no symbolic link, which might lead to another release later.
 * Otherwise the path from /proc, which costs more: the kernel has to drop the /proc entries when the process ends.
 */
static const char *link_target(void) {
#ifdef SYS_openat2
    const char *called = (const char *)getauxval(AT_EXECFN);
    uint64_t how[] = {O_PATH | O_CLOEXEC, 0, 4 /* RESOLVE_NO_SYMLINKS */};
    long fd = called == NULL || *called != '/' ? -1 : syscall(SYS_openat2, AT_FDCWD, called, how, sizeof how);
    if (fd >= 0) close((int)fd);
    if (fd >= 0) return called;
#endif
    return own_executable();
}

/* Makes a link for each name that FIND answers with a component, and the directory for the first. Answers the number of links, or -1 with errno. */
static int link_components(struct nested_calls *nested_calls, struct bytes name) {
    static struct found found;
    const char *executable = NULL;
    char path[PATH_MAX];
    int links = 0;
    for (struct bytes directory = {0}; links >= 0 && next_directory(&directory);) {
        snprintf(path, sizeof path, "%.*s", (int)directory.size, (const char *)directory.data);
        DIR *listing = opendir(path);
        for (struct dirent *entry; listing != NULL && links >= 0 && links < LINKS_MAX && (entry = readdir(listing)) != NULL;) {
            size_t size = component_type_size(entry->d_name);
            if (size == 0 || entry->d_name[0] == '.') continue;
            entry->d_name[size] = 0;
            find_plugin(text_bytes(entry->d_name), NATIVE_FIRST, &found);
            if (found.kind != COMPONENT) continue;
            if (executable == NULL) executable = link_target();
            bool ready = executable != NULL && (nested_calls->directory >= 0 || make_directory(nested_calls, name));
            if (ready && symlinkat(executable, nested_calls->directory, entry->d_name) == 0) links++;
            else if (!ready || errno != EEXIST) links = -1;
        }
        if (listing != NULL) closedir(listing);
    }
    return links;
}

static bool listen_in(struct nested_calls *nested_calls) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    bool fits = snprintf(address.sun_path, sizeof address.sun_path, "%s/" NESTED_CALLS_SOCKET, nested_calls->path) < (int)sizeof address.sun_path;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return false;
    nested_calls->listener = (struct watch){.fd = fd, .events = POLLIN, .due = NEVER, .wake = accept_caller, .owner = nested_calls};
    watch_add(&nested_calls->listener);
    errno = ENAMETOOLONG;
    return fits && bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, EFFECTS_MAX) == 0;
}

/* The directories that this shim has made. */
static struct nested_calls *all_open;

/* The directory of a running plugin, if it has this name: the EXEC is part of a nested call of that plugin, and its own nested calls go the same way. */
static const struct nested_calls *open_one(struct bytes name) {
    for (const struct nested_calls *each = all_open; each != NULL; each = each->next) {
        const char *own = strrchr(each->path, '/') + 1;
        if (strlen(own) == name.size && memcmp(own, name.data, name.size) == 0) return each;
    }
    return NULL;
}

int nested_calls_open(struct nested_calls *nested_calls, struct bytes name, uint32_t channel) {
    *nested_calls = (struct nested_calls){.tmpfs = -1, .directory = -1, .under = channel, .listener = {.fd = -1}};
    if (name.size == 0) return 0;
    if (!is_name(name)) return EINVAL;
    if (name.size > NESTED_NAME_MAX) return ENAMETOOLONG;
    const struct nested_calls *shared = open_one(name);
    if (shared != NULL) strcpy(nested_calls->path, shared->path);
    int links = shared != NULL ? 0 : link_components(nested_calls, name);
    if (links == 0) return 0;
    if (links > 0 && listen_in(nested_calls)) {
        nested_calls->next = all_open;
        all_open = nested_calls;
        return 0;
    }
    int error = errno;
    nested_calls_close(nested_calls);
    return error;
}

void nested_calls_close(struct nested_calls *nested_calls) {
    for (struct caller *caller = callers; caller < callers + EFFECTS_MAX; caller++)
        if (caller->nested_calls == nested_calls) hang_up(&caller->stream, STREAM_CLOSED);
    watch_close(&nested_calls->listener);
    for (struct nested_calls **at = &all_open; *at != NULL;)
        if (*at == nested_calls) *at = nested_calls->next;
        else at = &(*at)->next;
    int *fds[] = {&nested_calls->directory, &nested_calls->tmpfs};
    for (int i = 0; i < 2; i++) {
        if (*fds[i] >= 0) close(*fds[i]);
        *fds[i] = -1;
    }
    nested_calls->path[0] = 0;
}
