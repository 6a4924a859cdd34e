#include "namespace.h"
#include "brain-connection.h"

static const char ours[] = "/proc/self/ns/net";

static const struct {
    int (*open)(const struct message *effect, struct done *done);
    void (*use)(int fd, const struct message *effect, struct done *done); /* NULL: nothing is left to do */
} effects[] = {
    [NETLINK] = {open_netlink, use_netlink},
    [SYSCTL] = {set_sysctls, NULL},
    [PACKET] = {open_packet, send_packets},
    [TAP] = {open_tap, make_tap},
};

int open_namespace(struct bytes path, bool foreign) {
    char text[PATH_MAX];
    struct stat here, there;
    int size = snprintf(text, sizeof text, "%.*s", (int)path.size, (const char *)path.data);
    errno = ENAMETOOLONG;
    int fd = size >= PATH_MAX ? -1 : open(text, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || !foreign || fstat(fd, &there) != 0 || stat(ours, &here) != 0 || there.st_dev != here.st_dev || there.st_ino != here.st_ino) return fd;
    close(fd);
    errno = EXDEV;
    return -1;
}

/* We are there for this one part of the effect. */
static int open_there(uint8_t type, const struct message *effect, struct done *done) {
    int home = open(ours, O_RDONLY | O_CLOEXEC), there = home < 0 ? -1 : open_namespace(effect->path, type != NETLINK || effect->flag), fd = -1;
    bool entered = there >= 0 && setns(there, CLONE_NEWNET) == 0;
    if (entered) fd = effects[type].open(effect, done);
    int error = home < 0 ? EIO : errno; /* of the way back nobody must think that it is said of the namespace */
    if (entered && setns(home, CLONE_NEWNET) != 0)
        fail(CNI_IO, "Report this.", "no way back from the network namespace %.*s: %s", (int)effect->path.size, (const char *)effect->path.data, strerror(errno));
    close(home); /* -1: there is none to be closed */
    close(there);
    errno = error;
    return fd;
}

void answer_in_namespace(const struct frame *frame, const struct message *effect) {
    struct done done = {0};
    int fd = effect->path.size == 0 ? effects[frame->type].open(effect, &done) : open_there(frame->type, effect, &done);
    if (fd < 0) done.error = errno;
    else if (effects[frame->type].use != NULL) effects[frame->type].use(fd, effect, &done);
    if (fd >= 0 && !is_kept(fd)) close(fd);
    tell_brain(DONE, frame->channel, &(struct message){.status = (uint32_t)done.error, .flag = done.begun, .out = buffer_bytes(&done.out)});
    buffer_free(&done.out);
}
