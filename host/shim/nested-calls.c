#include "nested-calls.h"
#include "engine-connection.h"
#include "one-shot-engine.h"
#include "plugin-path.h"
#include "run-directory.h"

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

/* With `removes`: removes all entries of the directory. Without: answers whether they are links and the socket alone. */
static bool holds_only_links(int directory, bool removes) {
    int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = copy < 0 ? NULL : fdopendir(copy);
    bool only = listing != NULL;
    for (struct dirent *entry; only && (entry = readdir(listing)) != NULL;) {
        struct stat status;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (removes) unlinkat(directory, entry->d_name, 0);
        else only = fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && (S_ISLNK(status.st_mode) || strcmp(entry->d_name, NESTED_CALLS_SOCKET) == 0);
    }
    if (listing != NULL) closedir(listing);
    return only;
}

/* Reads the directory through its own descriptor, which saves one open(). */
static bool is_empty(int directory) {
    _Alignas(struct dirent64) char entries[1024];
    long size;
    while ((size = syscall(SYS_getdents64, directory, entries, sizeof entries)) > 0)
        for (long at = 0; at < size; at += ((struct dirent64 *)(entries + at))->d_reclen) {
            const char *name = ((struct dirent64 *)(entries + at))->d_name;
            if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) return false;
        }
    return size == 0;
}

/*
 * True: the directory exists, belongs to this user alone and is empty. A directory with other content than an earlier call's links is left
 * unchanged. All checks are made on the opened directory: between mkdir and open another process may have put another directory there.
 */
static bool make_directory(struct nested_calls *nested_calls) {
    struct stat status;
    if (!make_private_directory(nested_calls->path) && errno != EEXIST) return false;
    int fd = open(nested_calls->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return false;
    bool private = fstat(fd, &status) == 0 && status.st_uid == geteuid() && (status.st_mode & 0777) == 0700;
    int error = !private ? EPERM : flock(fd, LOCK_EX | LOCK_NB) != 0 ? EAGAIN /* another shim uses it */ : 0;
    bool empty = error == 0 && is_empty(fd);
    if (error == 0 && !empty && !holds_only_links(fd, false)) error = ENOTEMPTY;
    if (error != 0) close(fd);
    errno = error;
    if (error != 0) return false;
    nested_calls->directory = fd;
    return empty || holds_only_links(fd, true);
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
static int link_components(struct nested_calls *nested_calls) {
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
            bool ready = executable != NULL && (nested_calls->directory >= 0 || make_directory(nested_calls));
            if (ready && symlinkat(executable, nested_calls->directory, entry->d_name) == 0) {
                buffer_append(&nested_calls->links, entry->d_name, size + 1);
                links++;
            } else if (!ready || errno != EEXIST) links = -1;
        }
        if (listing != NULL) closedir(listing);
    }
    return links;
}

/*
 * Binds the socket from within the directory: its path may lead to another directory by now. Binds through /proc where the working directory
 * cannot be opened, because there would be no way back to it.
 */
static bool bind_in(int directory, int socket) {
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = NESTED_CALLS_SOCKET};
    int previous = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (previous < 0) snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/" NESTED_CALLS_SOCKET, directory);
    bool bound = (previous < 0 || fchdir(directory) == 0) && bind(socket, (struct sockaddr *)&address, sizeof address) == 0;
    int error = errno;
    if (previous >= 0 && fchdir(previous) != 0) bound = false;
    else errno = error;
    if (previous >= 0) close(previous);
    return bound;
}

static bool listen_in(struct nested_calls *nested_calls) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return false;
    nested_calls->listener = (struct watch){.fd = fd, .events = POLLIN, .due = NEVER, .wake = accept_caller, .owner = nested_calls};
    watch_add(&nested_calls->listener);
    return bind_in(nested_calls->directory, fd) && listen(fd, EFFECTS_MAX) == 0;
}

/* The directories that this shim has made. */
static struct nested_calls *all_open;

/* Whether a running plugin has the directory: the EXEC is part of a nested call of that plugin, and its own nested calls go the same way. */
static bool is_open(const char *path) {
    for (const struct nested_calls *each = all_open; each != NULL; each = each->next)
        if (strcmp(each->path, path) == 0) return true;
    return false;
}

int nested_calls_open(struct nested_calls *nested_calls, struct bytes name, uint32_t channel) {
    *nested_calls = (struct nested_calls){.directory = -1, .under = channel, .listener = {.fd = -1}};
    if (name.size == 0) return 0;
    /* the nested shim must fit the socket's path into a sockaddr_un */
    int error = nested_call_path(name, nested_calls->path, sizeof nested_calls->path - sizeof "/" NESTED_CALLS_SOCKET + 1);
    if (error != 0) {
        nested_calls->path[0] = 0;
        return error;
    }
    if (is_open(nested_calls->path)) return 0;
    int links = link_components(nested_calls);
    if (links > 0 && listen_in(nested_calls)) {
        nested_calls->next = all_open;
        all_open = nested_calls;
        return 0;
    }
    error = links == 0 ? 0 : errno;
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
    if (nested_calls->directory >= 0) {
        unlinkat(nested_calls->directory, NESTED_CALLS_SOCKET, 0);
        for (size_t at = 0; at < nested_calls->links.size; at += strlen((char *)nested_calls->links.data + at) + 1)
            unlinkat(nested_calls->directory, (char *)nested_calls->links.data + at, 0);
        rmdir(nested_calls->path); /* fails, and leaves the directory, where another process put files into it */
        close(nested_calls->directory);
    }
    buffer_free(&nested_calls->links);
    nested_calls->directory = -1;
    nested_calls->path[0] = 0;
}
