#include "namespace-effects.h"
#include "ask.h"
#include "cni-error.h"
#include "engine-connection.h"
#include "namespace.h"
#include "netlink-policy.h"
#include "netlink.h"
#include "packet.h"
#include "policy-file.h"
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
    [LABELLED_TAP] = {make_labelled_tap, NULL},
    [ASK] = {open_ask, NULL}, /* begin_ask() uses the descriptor */
};

static bool makes_tap(uint8_t type) { return type == TAP || type == LABELLED_TAP; }

/* Whether the node's policy allows the effect. `on_node`: in the shim's own namespace. */
static bool is_allowed(uint8_t type, const struct message *effect, bool on_node) {
    enum policy_list keys = on_node ? POLICY_NODE_SYSCTLS : POLICY_POD_SYSCTLS;
    const char *at = (const char *)effect->environment.data, *end = at + effect->environment.size;
    if (type == NETLINK)
        return netlink_is_allowed(effect->protocol, effect->in, on_node) && (!on_node || moves_are_allowed(effect->protocol, effect->in, true));
    const char *kind = type == ASK ? ask_kind_name(effect->protocol) : NULL;
    if (kind != NULL) return policy_allows(POLICY_ASKS, kind, strlen(kind));
    if (type == LABELLED_TAP && !policy_allows(POLICY_CONTEXTS, (const char *)effect->second.data, effect->second.size)) return false;
    if (makes_tap(type)) return policy_allows(POLICY_TAPS, (const char *)effect->name.data, effect->name.size);
    if (type != SYSCTL || !policy_bounds(keys)) return true;
    for (bool is_key = true; at < end; is_key = !is_key, at += strlen(at) + 1) /* a key, then its value */
        if (is_key && !policy_allows(keys, at, strlen(at))) return false;
    return true;
}

/* Opens a namespace in which the effect is allowed. -1: errno. */
static int open_target(uint8_t type, const struct message *effect) {
    bool is_own = false, refuses_own = type != NETLINK || effect->flag != 0;
    int target = open_namespace(effect->path, &is_own);
    if (target < 0) return -1;
    int error = is_own && refuses_own ? EXDEV : !is_allowed(type, effect, is_own) ? POLICY_REFUSES : 0;
    if (error == 0) return target;
    close(target);
    errno = error;
    return -1;
}

/* Carries out an effect that names no namespace. Plexus sends packets, asks neighbours and makes taps in pods alone. */
static int open_here(uint8_t type, const struct message *effect, struct done *done) {
    bool pod_only = type == PACKET || makes_tap(type) || type == ASK;
    errno = pod_only ? EXDEV : POLICY_REFUSES;
    return !pod_only && is_allowed(type, effect, true) ? effects[type].open(effect, done) : -1;
}

/* The shim is in the other namespace for this function alone. */
static int open_in_namespace(uint8_t type, const struct message *effect, struct done *done) {
    int own = open(OWN_NAMESPACE, O_RDONLY | O_CLOEXEC), target = own < 0 ? -1 : open_target(type, effect), fd = -1;
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
    int fd = effect->path.size == 0 ? open_here(frame->type, effect, &done) : open_in_namespace(frame->type, effect, &done);
    if (fd < 0) done.error = errno;
    else if (frame->type == ASK && begin_ask(fd, frame->channel, effect, &done)) return; /* its DONE comes later */
    else if (effects[frame->type].use != NULL) effects[frame->type].use(fd, effect, &done);
    if (frame->type == NETLINK) netlink_close(fd, effect);
    else if (fd >= 0) close(fd);
    send_to_engine(DONE, frame->channel, &(struct message){.status = (uint32_t)done.error, .flag = done.begun, .out = buffer_bytes(&done.out)});
    buffer_free(&done.out);
}
