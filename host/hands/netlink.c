#include "netlink.h"
#include "brain-connection.h"

static const char own_namespace[] = "/proc/self/ns/net";

/* Answers -1 with errno; EXDEV: it is the one that we are in, but must be another one. */
static int open_namespace(const char *path, bool foreign) {
    struct stat own, that;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || !foreign) return fd;
    if (stat(own_namespace, &own) == 0 && fstat(fd, &that) == 0 && (own.st_dev != that.st_dev || own.st_ino != that.st_ino)) return fd;
    close(fd);
    errno = EXDEV;
    return -1;
}

/* A netlink socket belongs for good to the namespace in which it was made, so we are there for the one system call. Answers -1 with errno
   where it can't be had. */
static int socket_in(const char *namespace, bool foreign) {
    int home = open(own_namespace, O_RDONLY | O_CLOEXEC), there = open_namespace(namespace, foreign);
    int made = -1;
    if (home >= 0 && there >= 0 && setns(there, CLONE_NEWNET) == 0) {
        made = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
        int error = errno;
        if (setns(home, CLONE_NEWNET) != 0)
            fail(CNI_IO, "Report this.", "no way back from the network namespace %s: %s", namespace, strerror(errno));
        errno = error;
    }
    int error = home < 0 ? EIO : errno; /* of the way back nobody must think that it is said of `namespace` */
    close(home); /* -1: there is none to be closed */
    close(there);
    errno = error;
    return made;
}

/* False with errno where it is longer than a path may be. */
static bool to_path(struct bytes text, char path[PATH_MAX]) {
    errno = ENAMETOOLONG;
    return snprintf(path, PATH_MAX, "%.*s", (int)text.size, (const char *)text.data) < PATH_MAX;
}

/* Opens the second namespace under the number by which messages name it, which nothing else has: ours are fewer. Answers 0 or an errno. */
static int open_second(struct bytes namespace, bool foreign) {
    char path[PATH_MAX];
    int fd = to_path(namespace, path) ? open_namespace(path, foreign) : -1;
    if (fd < 0) return errno;
    int second = fcntl(fd, F_DUPFD_CLOEXEC, NETLINK_SECOND_FD), error = second < 0 ? errno : 0;
    close(fd);
    if (second < 0 || second == NETLINK_SECOND_FD) return error;
    close(second);
    return EBUSY;
}

static int open_socket(struct bytes namespace, bool foreign) {
    char path[PATH_MAX];
    int yes = 1, room = NETLINK_ROOM;
    if (!to_path(namespace, path)) return -1;
    int fd = namespace.size > 0 ? socket_in(path, foreign) : socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0) return -1;
    /* what an older kernel lacks of these it does without */
    static const int options[] = {NETLINK_EXT_ACK, NETLINK_CAP_ACK, NETLINK_GET_STRICT_CHK};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) setsockopt(fd, SOL_NETLINK, options[i], &yes, sizeof yes);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
    return fd;
}

/* Counts requests, or in answers their ends: each request is answered by one acknowledgement, error or end of a dump. Answers 0 where the
   messages are malformed, or where a request asks for no acknowledgement, so that its end would not be seen. */
static uint32_t count_messages(struct bytes messages, bool ends) {
    uint32_t count = 0;
    while (messages.size > 0) {
        struct nlmsghdr header = {0};
        memcpy(&header, messages.data, messages.size < sizeof header ? messages.size : sizeof header);
        if (header.nlmsg_len < sizeof header || header.nlmsg_len > messages.size) return 0;
        if (!ends && (header.nlmsg_flags & NLM_F_ACK) == 0) return 0;
        if (!ends || header.nlmsg_type == NLMSG_ERROR || header.nlmsg_type == NLMSG_DONE) count++;
        uint32_t whole = NLMSG_ALIGN(header.nlmsg_len) < messages.size ? NLMSG_ALIGN(header.nlmsg_len) : messages.size;
        messages.data += whole;
        messages.size -= whole;
    }
    return count;
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

void answer_netlink(uint32_t channel, const struct message *netlink) {
    uint32_t requests = count_messages(netlink->in, false);
    int64_t due = in_ms(netlink->deadline_ms < NETLINK_MS ? netlink->deadline_ms : NETLINK_MS);
    struct buffer reply = {0};
    bool sent = false, second = netlink->second.size > 0;
    int fd = requests == 0 ? -1 : open_socket(netlink->path, netlink->foreign == 1), error = requests == 0 ? EINVAL : fd < 0 ? errno : 0;
    if (error == 0 && second) {
        error = open_second(netlink->second, netlink->foreign == 1);
        second = error == 0;
    }
    if (error == 0) {
        sent = send(fd, netlink->in.data, netlink->in.size, 0) == (ssize_t)netlink->in.size;
        error = sent ? receive(fd, requests, due, &reply) : errno;
    }
    if (fd >= 0) close(fd);
    if (fd >= 0 && second) close(NETLINK_SECOND_FD);
    tell_brain(NETLINKED, channel, &(struct message){.status = (uint32_t)error, .flags = sent, .out = buffer_bytes(&reply)});
    buffer_free(&reply);
}
