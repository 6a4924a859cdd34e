#include "nest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "brain-connection.h"
#include "limits.h"
#include "plugin-path.h"

/* Begins with a dot, which no component offered here does: a delegate may be called `sock`. */
#define SOCKET_NAME ".sock"

struct nest {
    char path[PATH_MAX];
    int directory;
    uint32_t under; /* channel of its EXEC */
    struct watch listener;
};

struct nested {
    struct nested *next;
    struct stream stream;
    struct nest *nest;
    uint32_t channel; /* 0: its request has not come yet */
};

static struct nested *callers;
static int caller_count;
static uint32_t last_channel;

static void hang_up(struct nested *caller) {
    for (struct nested **link = &callers; *link != NULL; link = &(*link)->next) {
        if (*link != caller) continue;
        *link = caller->next;
        break;
    }
    caller_count--;
    stream_close(&caller->stream);
    free(caller);
}

static void caller_ended(struct stream *stream, enum stream_end end) {
    (void)end;
    hang_up(stream->watch.owner == stream ? (struct nested *)((char *)stream - offsetof(struct nested, stream)) : NULL);
}

static bool caller_asks(struct stream *stream, const struct frame *frame, const struct message *request) {
    struct nested *caller = (struct nested *)((char *)stream - offsetof(struct nested, stream));
    if (frame->type != REQUEST || frame->channel != 0 || request->under != 0 || caller->channel != 0) return false;
    stream->watch.due = NEVER;
    caller->channel = NESTED_CHANNEL | ++last_channel;
    size_t begin = frame_begin(&brain.out, REQUEST, caller->channel);
    put_bytes(&brain.out, request->name.data, request->name.size);
    put_bytes(&brain.out, request->environment.data, request->environment.size);
    put_bytes(&brain.out, request->stdin_data.data, request->stdin_data.size);
    put_u32(&brain.out, caller->nest->under);
    put_bytes(&brain.out, request->path.data, request->path.size);
    frame_end(&brain.out, begin);
    stream_flush(&brain);
    return true;
}

static void someone_calls(struct watch *watch, short revents) {
    (void)revents;
    int fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) return;
    struct ucred peer;
    socklen_t size = sizeof peer;
    bool ours = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
    struct nested *caller = ours && caller_count < EFFECTS_MAX ? calloc(1, sizeof *caller) : NULL;
    if (caller == NULL) {
        close(fd);
        return;
    }
    caller->nest = watch->owner;
    caller->next = callers;
    callers = caller;
    caller_count++;
    caller->stream.payload_max = NESTED_PAYLOAD_MAX;
    caller->stream.on_frame = caller_asks;
    caller->stream.on_end = caller_ended;
    stream_open(&caller->stream, fd);
    caller->stream.watch.due = in_ms(NESTED_MS);
}

void nest_reply(uint32_t channel, const struct message *reply) {
    for (struct nested *caller = callers; caller != NULL; caller = caller->next) {
        if (caller->channel != channel) continue;
        struct buffer *out = &caller->stream.out;
        size_t begin = frame_begin(out, REPLY, 0);
        put_u32(out, reply->status);
        put_bytes(out, reply->out.data, reply->out.size);
        put_bytes(out, reply->err.data, reply->err.size);
        frame_end(out, begin);
        stream_flush(&caller->stream);
        return;
    }
}

/* Only what a nest consists of is ever removed, so that a wrong path costs nothing. False: something else is in it. */
static bool empty(int directory) {
    int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = copy < 0 ? NULL : fdopendir(copy);
    if (listing == NULL) return false;
    bool clean = true;
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        struct stat status;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISLNK(status.st_mode) && !S_ISSOCK(status.st_mode)) clean = false;
        else unlinkat(directory, entry->d_name, 0);
    }
    closedir(listing);
    return clean;
}

/* Links each name of `directory` that FIND gives as a component. Answers how many are new, -1 with errno on failure. */
static int link_components(struct nest *nest, const char *directory, int room) {
    static struct found found;
    DIR *listing = opendir(directory);
    int links = 0;
    if (listing == NULL) return 0;
    for (struct dirent *entry; links >= 0 && links < room && (entry = readdir(listing)) != NULL;) {
        size_t size = strlen(entry->d_name);
        if (entry->d_name[0] == '.' || size < 6 || strcmp(entry->d_name + size - 5, ".wasm") != 0) continue;
        entry->d_name[size - 5] = 0;
        find_plugin((struct bytes){.data = (const uint8_t *)entry->d_name, .size = (uint32_t)size - 5}, NATIVE_FIRST, &found);
        if (found.kind != COMPONENT) continue;
        if (symlinkat(executable, nest->directory, entry->d_name) == 0) links++;
        else if (errno != EEXIST) links = -1;
    }
    closedir(listing);
    return links;
}

static int link_all(struct nest *nest) {
    char directory[PATH_MAX];
    int links = 0;
    for (const char *cursor = NULL; next_directory(&cursor, directory);) {
        int more = link_components(nest, directory, LINKS_MAX - links);
        if (more < 0) return -1;
        links += more;
    }
    return links;
}

/* True: the directory stands, is ours alone and is empty. */
static bool make_directory(struct nest *nest) {
    for (char *slash = nest->path + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = 0;
        mkdir(nest->path, 0700);
        *slash = '/';
    }
    struct stat status;
    if (mkdir(nest->path, 0700) != 0 && errno != EEXIST) return false;
    nest->directory = open(nest->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (nest->directory < 0 || fstat(nest->directory, &status) != 0) return false;
    errno = EPERM;
    if (status.st_uid != geteuid()) return false;
    errno = ENOTEMPTY;
    return empty(nest->directory) && fchmod(nest->directory, 0700) == 0;
}

static bool listen_in(struct nest *nest) {
    char path[64];
    struct sockaddr_un address;
    snprintf(path, sizeof path, "/proc/self/fd/%d/" SOCKET_NAME, nest->directory);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return false;
    nest->listener = (struct watch){.fd = fd, .events = POLLIN, .due = NEVER, .wake = someone_calls, .owner = nest};
    watch_add(&nest->listener);
    return socket_address(&address, path) && bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, EFFECTS_MAX) == 0;
}

struct nest *nest_open(struct bytes path, uint32_t channel, int *error) {
    struct sockaddr_un address; /* nested hands must be able to name the socket */
    bool usable = path.data[0] == '/' && path.size + sizeof "/" SOCKET_NAME <= sizeof address.sun_path;
    struct nest *nest = usable ? calloc(1, sizeof *nest) : NULL;
    *error = usable ? ENOMEM : path.data[0] == '/' ? ENAMETOOLONG : EINVAL;
    if (nest == NULL) return NULL;
    memcpy(nest->path, path.data, path.size);
    nest->under = channel;
    nest->directory = nest->listener.fd = -1;
    int links = make_directory(nest) ? link_all(nest) : -1;
    if (links > 0 && listen_in(nest)) {
        *error = 0;
        return nest;
    }
    *error = links == 0 ? 0 : errno;
    nest_close(nest);
    return NULL;
}

void nest_close(struct nest *nest) {
    if (nest == NULL) return;
    for (struct nested *caller = callers, *next; caller != NULL; caller = next) {
        next = caller->next;
        if (caller->nest == nest) hang_up(caller);
    }
    watch_close(&nest->listener);
    if (nest->directory >= 0) {
        empty(nest->directory);
        close(nest->directory);
        rmdir(nest->path);
    }
    free(nest);
}

void nest_environment(const struct nest *nest, struct bytes environment, struct buffer *row) {
    const char *at = (const char *)environment.data, *old = NULL;
    for (const char *end = at + environment.size; at < end; at += strlen(at) + 1) {
        if (nest != NULL && strncmp(at, "PLEXUS_NEST=", 12) == 0) continue;
        if (nest != NULL && strncmp(at, "CNI_PATH=", 9) == 0) old = at + 9;
        else buffer_append(row, at, strlen(at) + 1);
    }
    if (nest == NULL) return;
    buffer_append_text(row, "PLEXUS_NEST=");
    buffer_append_text(row, nest->path);
    buffer_append(row, "/" SOCKET_NAME, sizeof "/" SOCKET_NAME);
    buffer_append_text(row, "CNI_PATH=");
    buffer_append_text(row, nest->path);
    if (old != NULL && *old != 0) {
        buffer_append_text(row, ":");
        buffer_append_text(row, old);
    }
    buffer_append(row, "", 1);
}
