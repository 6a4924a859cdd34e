#include "nest.h"
#include "brain-connection.h"
#include "plugin-path.h"

/* Begins with a dot, which no component offered here does: a delegate may be called `sock`. */
#define SOCKET_NAME ".sock"

struct caller {
    struct nest *nest; /* NULL: this place is free */
    struct stream stream;
    uint32_t channel; /* 0: its request has not come yet */
};

static struct caller callers[EFFECTS_MAX];

static void hang_up(struct stream *stream, UNUSED enum stream_end end) {
    stream_close(stream);
    HOLDER(struct caller, stream, stream)->nest = NULL;
}

static bool caller_asks(struct stream *stream, const struct frame *frame, const struct message *request) {
    static uint32_t last_channel;
    struct caller *caller = HOLDER(struct caller, stream, stream);
    if (frame->type != REQUEST || frame->channel != 0 || request->under != 0 || caller->channel != 0) return false;
    stream->watch.due = NEVER;
    caller->channel = last_channel = (last_channel + 1) | NESTED_CHANNEL;
    struct message passed_on = *request;
    passed_on.under = caller->nest->under;
    tell_brain(REQUEST, caller->channel, &passed_on);
    return true;
}

static void someone_calls(struct watch *watch, UNUSED short revents) {
    struct caller *caller = callers;
    struct ucred peer;
    socklen_t size = sizeof peer;
    int fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) return;
    while (caller < callers + EFFECTS_MAX && caller->nest != NULL) caller++;
    if (caller == callers + EFFECTS_MAX || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != geteuid()) {
        close(fd);
        return;
    }
    *caller = (struct caller){.nest = watch->owner, .stream = {.payload_max = NESTED_PAYLOAD_MAX, .on_frame = caller_asks, .on_end = hang_up}};
    stream_open(&caller->stream, fd);
    caller->stream.watch.due = in_ms(NESTED_MS);
}

void nest_reply(uint32_t channel, const struct message *reply) {
    for (struct caller *caller = callers; caller < callers + EFFECTS_MAX; caller++) {
        if (caller->nest == NULL || caller->channel != channel) continue;
        message_encode(&caller->stream.out, REPLY, 0, reply);
        stream_flush(&caller->stream);
    }
}

/* Looks at what is in the directory: true where it is links and our socket only. Then, if asked to, removes them. */
static bool only_nest(int directory, bool removes) {
    int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = copy < 0 ? NULL : fdopendir(copy);
    bool only = listing != NULL;
    for (struct dirent *entry; only && (entry = readdir(listing)) != NULL;) {
        struct stat status;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (removes) unlinkat(directory, entry->d_name, 0);
        else only = fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && (S_ISLNK(status.st_mode) || strcmp(entry->d_name, SOCKET_NAME) == 0);
    }
    if (listing != NULL) closedir(listing);
    return only;
}

/* Its parents are made only where they are missing, as they are once after a boot. */
static bool make_path(char *path) {
    if (mkdir(path, 0700) == 0) return true;
    if (errno != ENOENT) return false;
    for (char *slash = path; (slash = strchr(slash + 1, '/')) != NULL; *slash = '/') {
        *slash = 0;
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        if (!made) return *slash = '/', false;
    }
    return mkdir(path, 0700) == 0;
}

/* As it is at this moment; without opening it once more. */
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

/* True: the directory stands, is ours alone and is empty. What is no nest of an earlier call stays as it is. Whether mkdir made it says nothing
   of what was opened: who named the path may lead it elsewhere in between. */
static bool make_directory(struct nest *nest) {
    struct stat status;
    if (!make_path(nest->path) && errno != EEXIST) return false;
    int fd = open(nest->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return false;
    bool ours = fstat(fd, &status) == 0 && status.st_uid == geteuid() && (status.st_mode & 0777) == 0700;
    int error = !ours ? EPERM : flock(fd, LOCK_EX | LOCK_NB) != 0 ? EAGAIN /* hands that live use it */ : 0;
    bool empty = error == 0 && is_empty(fd);
    if (error == 0 && !empty && !only_nest(fd, false)) error = ENOTEMPTY;
    if (error != 0) close(fd);
    errno = error;
    if (error != 0) return false;
    nest->directory = fd;
    return empty || only_nest(fd, true);
}

/* The path that we were called by, where it is one without any link in it; /proc tells, too, but the kernel then has to clear what it keeps of
   us there. Links may lead to another release while we run. */
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

/* Links each name that FIND gives as a component; the first makes the directory. Answers how many there are, -1 with errno on failure. */
static int link_components(struct nest *nest) {
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
            bool stands = executable != NULL && (nest->directory >= 0 || make_directory(nest));
            if (stands && symlinkat(executable, nest->directory, entry->d_name) == 0) {
                buffer_append(&nest->links, entry->d_name, size + 1);
                links++;
            } else if (!stands || errno != EEXIST) links = -1;
        }
        if (listing != NULL) closedir(listing);
    }
    return links;
}

/* Bound from within the directory: a path to it may be another's by now. By /proc where we may not enter our own directory: there would be
   no way back. */
static bool bind_in(int directory, int socket) {
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SOCKET_NAME};
    int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (here < 0) snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/" SOCKET_NAME, directory);
    bool bound = (here < 0 || fchdir(directory) == 0) && bind(socket, (struct sockaddr *)&address, sizeof address) == 0;
    int error = errno;
    if (here >= 0 && fchdir(here) != 0) bound = false;
    else errno = error;
    if (here >= 0) close(here);
    return bound;
}

static bool listen_in(struct nest *nest) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return false;
    nest->listener = (struct watch){.fd = fd, .events = POLLIN, .due = NEVER, .wake = someone_calls, .owner = nest};
    watch_add(&nest->listener);
    return bind_in(nest->directory, fd) && listen(fd, EFFECTS_MAX) == 0;
}

int nest_open(struct nest *nest, struct bytes path, uint32_t channel) {
    *nest = (struct nest){.directory = -1, .under = channel, .listener = {.fd = -1}};
    if (path.size == 0) return 0;
    if (path.data[0] != '/') return EINVAL;
    if (path.size + sizeof "/" SOCKET_NAME > sizeof nest->path) return ENAMETOOLONG; /* nested hands must be able to name the socket */
    memcpy(nest->path, path.data, path.size);
    int links = link_components(nest);
    if (links > 0 && listen_in(nest)) return 0;
    int error = links == 0 ? 0 : errno;
    nest_close(nest);
    return error;
}

void nest_close(struct nest *nest) {
    for (struct caller *caller = callers; caller < callers + EFFECTS_MAX; caller++)
        if (caller->nest == nest) hang_up(&caller->stream, STREAM_CLOSED);
    watch_close(&nest->listener);
    if (nest->directory >= 0) {
        unlinkat(nest->directory, SOCKET_NAME, 0);
        for (size_t at = 0; at < nest->links.size; at += strlen((char *)nest->links.data + at) + 1)
            unlinkat(nest->directory, (char *)nest->links.data + at, 0);
        rmdir(nest->path); /* what somebody else put into it stays: it need not be the directory that we were meant to take */
        close(nest->directory);
    }
    buffer_free(&nest->links);
    nest->directory = -1;
    nest->path[0] = 0;
}

void nest_environment(const struct nest *nest, struct bytes environment, struct buffer *row) {
    const char *at = (const char *)environment.data, *old = "";
    bool there = nest->path[0] != 0;
    for (const char *end = at + environment.size; at < end; at += strlen(at) + 1) {
        if (there && strncmp(at, "CNI_PATH=", 9) == 0) old = at + 9;
        else if (!there || strncmp(at, "PLEXUS_NEST=", 12) != 0) buffer_append(row, at, strlen(at) + 1);
    }
    if (!there) return;
    const char *led[] = {"PLEXUS_NEST=", nest->path, "/" SOCKET_NAME, NULL, "CNI_PATH=", nest->path, *old == 0 ? "" : ":", old, NULL};
    for (size_t i = 0; i < sizeof led / sizeof *led; i++) buffer_append(row, led[i] == NULL ? "" : led[i], led[i] == NULL ? 1 : strlen(led[i]));
}
