#include "netlink.h"
#include "loop.h"
#include "namespace.h"
#include "netlink-policy.h"
#include "policy-file.h"

/* The answer to a request that did not ask for an acknowledgement: the kernel refused the whole batch. */
#define BATCH_REFUSED UINT32_MAX

/*
 * Counts the requests that ask for an acknowledgement; 0: the messages are malformed. With `answers`, counts the messages that end the answer
 * to such a request: its acknowledgement, its error or the end of its dump.
 */
static uint32_t count_messages(struct bytes messages, bool answers) {
    uint32_t count = 0;
    while (messages.size > 0) {
        struct {
            struct nlmsghdr header;
            struct nlmsgerr error;
        } message = {0};
        memcpy(&message, messages.data, messages.size < sizeof message ? messages.size : sizeof message);
        uint32_t size = message.header.nlmsg_len, type = message.header.nlmsg_type;
        if (size < sizeof message.header || size > messages.size) return 0;
        if (answers && type == NLMSG_ERROR && (message.error.msg.nlmsg_flags & NLM_F_ACK) == 0) return BATCH_REFUSED;
        if (answers ? type == NLMSG_ERROR || type == NLMSG_DONE : (message.header.nlmsg_flags & NLM_F_ACK) != 0) count++;
        messages = bytes_after(messages, NLMSG_ALIGN(size) < messages.size ? NLMSG_ALIGN(size) : messages.size);
    }
    return count;
}

/* Whether an answer says that the sender lacks CAP_NET_ADMIN. */
static bool denies_right(struct bytes answers) {
    struct {
        struct nlmsghdr header;
        struct nlmsgerr error;
    } answer = {0};
    memcpy(&answer, answers.data, answers.size < sizeof answer ? answers.size : sizeof answer);
    return answer.header.nlmsg_type == NLMSG_ERROR && answer.error.error == -EPERM;
}

/* Netfilter's socket of the shim's own namespace. Closing such a socket after rules were removed costs an RCU grace period, some 10 ms. */
static int kept_socket = -1;

bool netlink_keeps_open(int fd) {
    return fd >= 0 && fd == kept_socket;
}

/* Netfilter's sockets of other namespaces, the oldest first. An open socket keeps its namespace, so that each is closed as soon as this costs nothing. */
enum { LATE_CLOSES_MAX = 128, LATE_CLOSE_MS = 200 };
static struct {
    int fd;
    int64_t due;
} late_closes[LATE_CLOSES_MAX];
static int late_count = 0;
static struct watch late_watch = {.fd = -1, .due = NEVER};

static void close_late(struct watch *watch, UNUSED short revents) {
    int done = 0;
    for (int64_t now = now_us(); done < late_count && (late_closes[done].due <= now || late_count - done == LATE_CLOSES_MAX); done++) close(late_closes[done].fd);
    late_count -= done;
    memmove(late_closes, late_closes + done, (size_t)late_count * sizeof *late_closes);
    watch->due = late_count == 0 ? NEVER : late_closes[0].due;
}

void netlink_close(int fd, const struct message *netlink) {
    if (fd < 0 || netlink_keeps_open(fd)) return;
    if (netlink->protocol != NETLINK_NETFILTER) {
        close(fd);
        return;
    }
    if (late_watch.wake == NULL) {
        late_watch.wake = close_late;
        watch_add(&late_watch);
    }
    if (late_count == LATE_CLOSES_MAX) close_late(&late_watch, 0);
    late_closes[late_count].fd = fd;
    late_closes[late_count++].due = in_ms(LATE_CLOSE_MS);
    late_watch.due = late_closes[0].due;
}

/* Without CAP_NET_ADMIN in the initial user namespace only the second option works, and net.core.wmem_max or rmem_max caps it. */
static void size_buffer(int fd, int forced, int capped, int size) {
    if (setsockopt(fd, SOL_SOCKET, forced, &size, sizeof size) != 0) setsockopt(fd, SOL_SOCKET, capped, &size, sizeof size);
}

bool hear_kernel_alone(int fd) {
    static const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    return connect(fd, (const struct sockaddr *)&kernel, sizeof kernel) == 0;
}

int open_netlink(const struct message *netlink, UNUSED struct done *done) {
    static const int options[] = {NETLINK_EXT_ACK, NETLINK_CAP_ACK, NETLINK_GET_STRICT_CHK};
    bool keep = netlink->protocol == NETLINK_NETFILTER && netlink->path.size == 0;
    bool valid = count_messages(netlink->in, false) > 0 && (netlink->protocol == NETLINK_ROUTE || netlink->protocol == NETLINK_NETFILTER);
    if (valid && keep && kept_socket >= 0) return kept_socket;
    errno = EINVAL;
    int fd = valid ? socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, (int)netlink->protocol) : -1, on = 1;
    if (fd < 0) return -1;
    if (!hear_kernel_alone(fd)) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    /* best effort: an older kernel lacks some of them */
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) setsockopt(fd, SOL_NETLINK, options[i], &on, sizeof on);
    size_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, NETLINK_RECEIVE_BUFFER);
    size_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, NETLINK_SEND_BUFFER);
    if (keep) kept_socket = fd;
    return fd;
}

/*
 * Collects the kernel's answers in `reply` until each of the `requests` has its end. Answers 0 or an errno. A refused batch and lost answers
 * (ENOBUFS) end the wait: the kernel queues all answers to a batch before send() returns, so the rest is taken without waiting. Without
 * CAP_NET_ADMIN netfilter answers the first message alone, with EPERM.
 */
static int receive(int fd, uint32_t requests, int64_t due, bool netfilter, struct buffer *reply) {
    bool refused = false;
    int lost = 0;
    while (requests > 0 || refused) {
        struct sockaddr_nl sender;
        socklen_t sender_size = sizeof sender;
        int64_t left = refused || lost != 0 ? 0 : (due - now_us()) / 1000;
        if (poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, left < 0 ? 0 : (int)left) == 0) return refused || lost != 0 ? lost : ETIMEDOUT;
        if (reply->size + NETLINK_PIECE > NETLINK_REPLY_MAX) return EMSGSIZE;
        buffer_reserve(reply, NETLINK_PIECE);
        ssize_t got = recvfrom(fd, reply->data + reply->size, NETLINK_PIECE, MSG_DONTWAIT | MSG_TRUNC, (struct sockaddr *)&sender, &sender_size);
        if (got < 0 && errno == ENOBUFS) lost = ENOBUFS;
        else if (got < 0 && errno != EAGAIN && errno != EINTR) return errno;
        if (got <= 0 || sender.nl_pid != 0) { /* from another process: sent before the socket was connected */
            if (now_us() > due) return lost != 0 ? lost : ETIMEDOUT;
            continue;
        }
        if (got > NETLINK_PIECE) return EMSGSIZE;
        struct bytes answers = {.data = reply->data + reply->size, .size = (uint32_t)got};
        uint32_t ends = count_messages(answers, true);
        if (netfilter && denies_right(answers)) lost = EPERM;
        reply->size += (size_t)got;
        if (ends == BATCH_REFUSED) refused = true;
        requests -= ends < requests ? ends : requests;
        if (requests == 0 && lost == EPERM) lost = 0; /* every message has its answer */
    }
    return lost;
}

/* Appends the cookie of the socket's network namespace. Kernels before Linux 5.14 have none. */
static void append_cookie(int fd, struct buffer *reply) {
    uint64_t cookie;
    socklen_t size = sizeof cookie;
    if (getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &size) != 0) return;
    struct {
        struct nlmsghdr header;
        uint32_t low, high;
    } note = {.header = {.nlmsg_len = sizeof note, .nlmsg_type = NLMSG_NOOP, .nlmsg_pid = NETLINK_COOKIE_PID}, .low = (uint32_t)cookie, .high = (uint32_t)(cookie >> 32)};
    buffer_append(reply, &note, sizeof note);
}

/* Discards late answers to an earlier effect. */
static void drain(int fd) {
    char byte;
    while (recv(fd, &byte, sizeof byte, MSG_DONTWAIT | MSG_TRUNC) >= 0 || errno == ENOBUFS || errno == EINTR) {}
}

/* Whether the policy allows messages that name the shim's own namespace as the second one: links may come to the node. */
static bool is_allowed_to_own(const struct message *netlink) {
    return netlink_is_allowed(netlink->protocol, netlink->in, true) && moves_are_allowed(netlink->protocol, netlink->in, false);
}

void use_netlink(int fd, const struct message *netlink, struct done *done) {
    int64_t due = in_ms(netlink->deadline_ms < NETLINK_MS ? netlink->deadline_ms : NETLINK_MS);
    bool names_own = false;
    int second = netlink->second.size == 0 ? -1 : open_namespace(netlink->second, &names_own);
    int refused = names_own && netlink->flag != 0 ? EXDEV : names_own && !is_allowed_to_own(netlink) ? POLICY_REFUSES : 0;
    bool ready = netlink->second.size == 0 || (second >= 0 && refused == 0 && dup3(second, NETLINK_SECOND_FD, O_CLOEXEC) == NETLINK_SECOND_FD);
    if (netlink_keeps_open(fd)) drain(fd);
    done->begun = ready && send(fd, netlink->in.data, netlink->in.size, 0) == (ssize_t)netlink->in.size;
    done->error = done->begun ? receive(fd, count_messages(netlink->in, false), due, netlink->protocol == NETLINK_NETFILTER, &done->out) : refused != 0 ? refused : errno;
    if (done->error == 0 && netlink->path.size > 0 && netlink->protocol == NETLINK_ROUTE) append_cookie(fd, &done->out);
    close(second); /* -1 where there is none: harmless */
    if (second >= 0 && refused == 0) close(NETLINK_SECOND_FD);
    if (done->error != 0 && netlink_keeps_open(fd)) kept_socket = -1;
}
