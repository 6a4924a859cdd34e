/* A daemon that was taken over, beside its launch server at descriptor 3: sends it what no daemon sends, then executes its arguments.

     pester COMMAND [ARGUMENT]… */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SERVER = 3, FDS_MAX = 64, TEXT_MAX = 9000 };

/* Sends `size` bytes of `text` with so many descriptors. A packet that the kernel refuses is no finding. */
static void send_packet(const char *text, size_t size, int count) {
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(FDS_MAX * sizeof(int))];
    } control;
    memset(&control, 0, sizeof control);
    struct iovec part = {.iov_base = (char *)text, .iov_len = size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (count > 0) {
        int fds[FDS_MAX];
        for (int i = 0; i < count; i++) fds[i] = 1;
        message.msg_control = control.room;
        message.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
        control.header.cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        memcpy(CMSG_DATA(&control.header), fds, (size_t)count * sizeof(int));
    }
    (void)!sendmsg(SERVER, &message, MSG_NOSIGNAL);
}

int main(int argc, char **argv) {
    static char text[TEXT_MAX];
    static const size_t sizes[] = {1, 2, 3, 16, 4095, 4096, 4097, TEXT_MAX};
    static const int counts[] = {0, 1, 2, 3, 4, FDS_MAX};
    static const char fills[] = {0, '1', 'x', -1};
    if (argc < 2) return 2;
    for (size_t fill = 0; fill < sizeof fills; fill++)
        for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++)
            for (size_t count = 0; count < sizeof counts / sizeof *counts; count++) {
                memset(text, fills[fill], sizeof text);
                send_packet(text, sizes[size], counts[count]);
                text[sizes[size] - 1] = 0;
                send_packet(text, sizes[size], counts[count]);
            }
    /* A number, and then nothing, or more numbers than a command has. */
    send_packet("1", 2, 3);
    memset(text, 0, sizeof text);
    for (size_t at = 0; at < 2000; at += 2) text[at] = '1';
    send_packet(text, 2000, 3);
    execv(argv[1], argv + 1);
    perror(argv[1]);
    return 127;
}
