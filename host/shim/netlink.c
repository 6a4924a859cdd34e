#include "namespace.h"
#include "loop.h"

/* Counts requests that ask to be acknowledged, 0 where the messages are malformed; or in answers the ends of such: each has one
   acknowledgement, error or end of a dump. An error of another one, a batch's first message, is the end of all. */
static uint32_t count_messages(struct bytes messages, bool ends) {
    uint32_t count = 0;
    while (messages.size > 0) {
        struct {
            struct nlmsghdr header;
            struct nlmsgerr error;
        } message = {0};
        memcpy(&message, messages.data, messages.size < sizeof message ? messages.size : sizeof message);
        uint32_t size = message.header.nlmsg_len, type = message.header.nlmsg_type;
        if (size < sizeof message.header || size > messages.size) return 0;
        if (ends && type == NLMSG_ERROR && (message.error.msg.nlmsg_flags & NLM_F_ACK) == 0) return UINT32_MAX;
        if (ends ? type == NLMSG_ERROR || type == NLMSG_DONE : (message.header.nlmsg_flags & NLM_F_ACK) != 0) count++;
        uint32_t whole = NLMSG_ALIGN(size) < messages.size ? NLMSG_ALIGN(size) : messages.size;
        messages = behind(messages, whole);
    }
    return count;
}

/* Netfilter's, of our own namespace: closing one after rules were removed takes the kernel a grace period of RCU, some 10 ms. */
static int kept = -1;

bool is_kept(int fd) {
    return fd >= 0 && fd == kept;
}

int open_netlink(const struct message *netlink, UNUSED struct done *done) {
    static const int options[] = {NETLINK_EXT_ACK, NETLINK_CAP_ACK, NETLINK_GET_STRICT_CHK};
    bool keep = netlink->protocol == NETLINK_NETFILTER && netlink->path.size == 0;
    bool good = count_messages(netlink->in, false) > 0 && (netlink->protocol == NETLINK_ROUTE || netlink->protocol == NETLINK_NETFILTER);
    if (good && keep && kept >= 0) return kept;
    errno = EINVAL;
    int fd = good ? socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, (int)netlink->protocol) : -1, yes = 1, room = NETLINK_ROOM;
    if (fd < 0) return -1;
    /* what an older kernel lacks of these it does without */
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) setsockopt(fd, SOL_NETLINK, options[i], &yes, sizeof yes);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room);
    if (keep) kept = fd;
    return fd;
}

/* Takes answers until all requests have had theirs. Answers 0 or an errno, with what came until then in `reply`. */
static int receive(int fd, uint32_t requests, int64_t due, struct buffer *reply) {
    while (requests > 0) {
        struct sockaddr_nl sender;
        socklen_t sender_size = sizeof sender;
        int64_t left = (due - now_us()) / 1000;
        if (poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, left < 0 ? 0 : (int)left) == 0) return ETIMEDOUT;
        if (reply->size + NETLINK_PIECE > NETLINK_REPLY_MAX) return EMSGSIZE;
        buffer_reserve(reply, NETLINK_PIECE);
        ssize_t got = recvfrom(fd, reply->data + reply->size, NETLINK_PIECE, MSG_DONTWAIT | MSG_TRUNC, (struct sockaddr *)&sender, &sender_size);
        if (got < 0 && errno != EAGAIN && errno != EINTR) return errno;
        if (got > NETLINK_PIECE) return EMSGSIZE;
        if (got <= 0 || sender.nl_pid != 0) continue; /* not from the kernel */
        uint32_t ends = count_messages((struct bytes){.data = reply->data + reply->size, .size = (uint32_t)got}, true);
        reply->size += (size_t)got;
        requests -= ends < requests ? ends : requests;
    }
    return 0;
}

/* What is left of answers to an earlier effect, which nobody waits for. */
static void drain(int fd) {
    char byte;
    while (recv(fd, &byte, sizeof byte, MSG_DONTWAIT | MSG_TRUNC) >= 0 || errno == ENOBUFS || errno == EINTR) {}
}

void use_netlink(int fd, const struct message *netlink, struct done *done) {
    int64_t due = in_ms(netlink->deadline_ms < NETLINK_MS ? netlink->deadline_ms : NETLINK_MS);
    int second = netlink->second.size == 0 ? -1 : open_namespace(netlink->second, netlink->flag);
    bool ready = netlink->second.size == 0 || (second >= 0 && dup3(second, NETLINK_SECOND_FD, O_CLOEXEC) == NETLINK_SECOND_FD);
    if (is_kept(fd)) drain(fd);
    done->begun = ready && send(fd, netlink->in.data, netlink->in.size, 0) == (ssize_t)netlink->in.size;
    done->error = done->begun ? receive(fd, count_messages(netlink->in, false), due, &done->out) : errno;
    close(second); /* -1: there is none */
    if (second >= 0) close(NETLINK_SECOND_FD);
    if (done->error != 0 && is_kept(fd)) kept = -1;
}
