#include "link-changes.h"
#include "engine-connection.h"
#include "loop.h"
#include "netlink.h"
#include "netlink-policy.h"
#include "policy-file.h"

#include <linux/rtnetlink.h>

static void collect(struct watch *watch, short revents);

static struct watch listener = {.fd = -1, .events = POLLIN, .wake = collect};
static uint32_t waiting; /* the channel that waits; 0: none */

/* Listening shows what a list of the node's links shows, so the same key of the policy bounds it. */
static bool may_listen(void) {
    const struct nlmsghdr list = {.nlmsg_len = sizeof list, .nlmsg_type = RTM_GETLINK};
    return netlink_is_allowed(NETLINK_ROUTE, (struct bytes){.data = (const uint8_t *)&list, .size = sizeof list}, true);
}

static int listen_to_links(void) {
    struct sockaddr_nl group = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK};
    int size = NETLINK_RECEIVE_BUFFER, fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (fd < 0) return errno;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) != 0) setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    if (bind(fd, (struct sockaddr *)&group, sizeof group) == 0 && hear_kernel_alone(fd)) {
        listener.fd = fd;
        return 0;
    }
    int error = errno;
    close(fd);
    return error;
}

static void answer(uint32_t channel, int error, bool listened, struct bytes messages) {
    send_to_engine(DONE, channel, &(struct message){.status = (uint32_t)error, .flag = listened, .out = messages});
}

/* Takes the messages that have arrived. Lost messages (ENOBUFS) are an errno beside the messages that arrived. */
static void collect(struct watch *watch, UNUSED short revents) {
    struct buffer messages = {0};
    int error = 0;
    while (messages.size < CHANGES_MAX) {
        struct sockaddr_nl sender;
        socklen_t sender_size = sizeof sender;
        buffer_reserve(&messages, NETLINK_PIECE);
        ssize_t got = recvfrom(watch->fd, messages.data + messages.size, NETLINK_PIECE, MSG_DONTWAIT, (struct sockaddr *)&sender, &sender_size);
        if (got < 0 && errno == ENOBUFS) error = ENOBUFS;
        else if (got < 0) break;
        else if (sender.nl_pid == 0) messages.size += (size_t)got; /* another: sent before the socket was connected */
    }
    if (messages.size == 0 && error == 0 && now_us() < watch->due) {
        buffer_free(&messages);
        return;
    }
    uint32_t channel = waiting;
    watch_remove(watch);
    waiting = 0;
    answer(channel, error, true, buffer_bytes(&messages));
    buffer_free(&messages);
}

void answer_changes(uint32_t channel, const struct message *changes) {
    bool listens = listener.fd >= 0;
    int error = waiting != 0 ? EAGAIN : listens ? 0 : !may_listen() ? POLICY_REFUSES : listen_to_links();
    if (error != 0 || !listens) return answer(channel, error, listens, (struct bytes){0});
    waiting = channel;
    listener.due = in_ms(changes->deadline_ms < CHANGES_MS ? changes->deadline_ms : CHANGES_MS);
    watch_add(&listener);
}

bool changes_wait_on(uint32_t channel) { return waiting != 0 && waiting == channel; }

void stop_changes(void) {
    watch_close(&listener);
    waiting = 0;
}
