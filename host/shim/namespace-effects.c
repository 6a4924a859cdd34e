#include "namespace-effects.h"
#include "cni-error.h"
#include "engine-connection.h"
#include "namespace.h"
#include "netlink.h"
#include "packet.h"
#include "sysctl.h"
#include "tap.h"

static const struct {
    int (*open)(const struct message *effect, struct done *done); /* in the namespace */
    void (*use)(int fd, const struct message *effect, struct done *done); /* in the shim's own namespace; NULL: `open` did everything */
} effects[] = {
    [NETLINK] = {open_netlink, use_netlink},
    [SYSCTL] = {set_sysctls, NULL},
    [PACKET] = {open_packet, send_packets},
    [TAP] = {open_tap, make_tap},
};

/* The shim is in the other namespace for this function alone. */
static int open_in_namespace(uint8_t type, const struct message *effect, struct done *done) {
    int own = open(OWN_NAMESPACE, O_RDONLY | O_CLOEXEC), target = own < 0 ? -1 : open_namespace(effect->path, type != NETLINK || effect->flag), fd = -1;
    bool entered = target >= 0 && setns(target, CLONE_NEWNET) == 0;
    if (entered) fd = effects[type].open(effect, done);
    int error = own < 0 ? EIO : errno; /* EIO: the errno of OWN_NAMESPACE would read as one of the target namespace */
    if (entered && setns(own, CLONE_NEWNET) != 0)
        fail(CNI_IO, "Report this.", "no way back from the network namespace %.*s: %s", (int)effect->path.size, (const char *)effect->path.data, strerror(errno));
    close(own); /* -1 where open failed: harmless */
    close(target);
    errno = error;
    return fd;
}

void answer_in_namespace(const struct frame *frame, const struct message *effect) {
    struct done done = {0};
    int fd = effect->path.size == 0 ? effects[frame->type].open(effect, &done) : open_in_namespace(frame->type, effect, &done);
    if (fd < 0) done.error = errno;
    else if (effects[frame->type].use != NULL) effects[frame->type].use(fd, effect, &done);
    if (fd >= 0 && !netlink_keeps_open(fd)) close(fd);
    send_to_engine(DONE, frame->channel, &(struct message){.status = (uint32_t)done.error, .flag = done.begun, .out = buffer_bytes(&done.out)});
    buffer_free(&done.out);
}
