#include "packet.h"

#include <linux/if_packet.h>

int open_packet(UNUSED const struct message *packet, UNUSED struct done *done) {
    return socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0); /* protocol 0: receives nothing */
}

void send_packets(int fd, const struct message *packet, struct done *done) {
    struct {
        uint32_t size;
        uint16_t ethertype; /* network byte order */
        uint8_t destination[6];
    } header;
    struct bytes rest = packet->in;
    for (int count = 0; rest.size > 0 && done->error == 0; count++) {
        if (rest.size >= sizeof header) memcpy(&header, rest.data, sizeof header);
        uint32_t size = rest.size < sizeof header ? UINT32_MAX : le32toh(header.size);
        if (count == PACKETS_MAX || size > PACKET_MAX || size > rest.size - sizeof header) {
            done->error = EINVAL;
            return;
        }
        struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_protocol = header.ethertype, .sll_ifindex = (int)packet->index, .sll_halen = sizeof header.destination};
        memcpy(to.sll_addr, header.destination, sizeof header.destination);
        rest = bytes_after(rest, sizeof header);
        if (sendto(fd, rest.data, size, MSG_DONTWAIT, (struct sockaddr *)&to, sizeof to) == (ssize_t)size) done->begun = true;
        else done->error = errno;
        rest = bytes_after(rest, size);
    }
}
