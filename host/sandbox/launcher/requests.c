/* The requests to the launch server and to a zygote: a text with three descriptors. */
#include "launcher.h"

#include <sys/socket.h>

enum { NUMBERS_MAX = 8, COMMAND_MAX = 64 };

/* Space for the descriptors of a message, aligned as the kernel asks. */
union descriptors {
    struct cmsghdr header;
    char space[CMSG_SPACE(ASKED_FDS * sizeof(int))];
};

long receive_request(int connection, char *text, int fds[ASKED_FDS]) {
    union descriptors control = {0};
    struct iovec part = {.iov_base = text, .iov_len = REQUEST_MAX};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.space};
    /* Not the size of the space: its alignment has place for one descriptor more. */
    message.msg_controllen = CMSG_LEN(ASKED_FDS * sizeof(int));
    long size = syscall(SYS_recvmsg, connection, &message, MSG_CMSG_CLOEXEC);
    if (size <= 0) return size < 0 && errno == EINTR ? 0 : -1;
    size_t count = message.msg_controllen >= CMSG_LEN(0) && control.header.cmsg_level == SOL_SOCKET && control.header.cmsg_type == SCM_RIGHTS
                       ? (control.header.cmsg_len - CMSG_LEN(0)) / sizeof(int)
                       : 0;
    for (int i = 0; i < ASKED_FDS; i++) fds[i] = -1;
    if (count > ASKED_FDS) _exit(FAILED); /* the kernel never gives more than there is place for */
    memcpy(fds, CMSG_DATA(&control.header), count * sizeof(int));
    if ((count == ASKED_FDS || count == 0) && (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0 && text[size - 1] == 0) return size;
    for (size_t i = 0; i < count; i++) close(fds[i]);
    return 0;
}

/* Sends the bytes with so many descriptors, at most ASKED_FDS. */
static bool send_with(int connection, const void *bytes, size_t size, const int *fds, size_t count, int flags) {
    union descriptors control = {0};
    struct iovec part = {.iov_base = (char *)(size_t)bytes, .iov_len = size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (count > 0) {
        message.msg_control = control.space;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(count * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.header), fds, count * sizeof(int));
    }
    return syscall(SYS_sendmsg, connection, &message, MSG_NOSIGNAL | flags) == (long)size;
}

bool send_request(int connection, const char *text, size_t size, const int fds[ASKED_FDS], int flags) {
    return send_with(connection, text, size, fds, ASKED_FDS, flags);
}

bool send_answer(int connection, int error, int fd) { return send_with(connection, &error, sizeof error, &fd, fd < 0 ? 0 : 1, 0); }

bool receive_answer(int connection, int *error, int *fd) {
    union descriptors control = {0};
    struct iovec part = {.iov_base = error, .iov_len = sizeof *error};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = CMSG_LEN(sizeof *fd)};
    long size;
    while ((size = syscall(SYS_recvmsg, connection, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) continue;
    if (size != sizeof *error) return false;
    if (message.msg_controllen >= CMSG_LEN(sizeof *fd) && control.header.cmsg_type == SCM_RIGHTS) memcpy(fd, CMSG_DATA(&control.header), sizeof *fd);
    return true;
}

static bool is_number(const char *text) {
    unsigned long long number;
    return read_number(&text, &number) && *text == 0;
}

bool complete_jail(struct jail *jail, char *text, long size) {
    static char *command[COMMAND_MAX + NUMBERS_MAX + 1];
    size_t count = 0;
    unsigned long long bytes;
    const char *number = text;
    char *end = text + size, *next = text + strlen(text) + 1;
    if (!read_number(&number, &bytes) || *number != 0 || !add_limit(jail, 2 /* RLIMIT_DATA */, bytes) || next >= end) return false;
    if (*next != 0) jail->cgroup = next;
    while (jail->command != NULL && jail->command[count] != NULL) {
        if (count == COMMAND_MAX) return false;
        command[count] = jail->command[count];
        count++;
    }
    for (next += strlen(next) + 1; next < end; next += strlen(next) + 1) {
        if (count == COMMAND_MAX + NUMBERS_MAX || !is_number(next)) return false;
        command[count++] = next;
    }
    jail->command = command;
    return true;
}
