/* Prints what arrives on a link: `sniff LINK ETHERTYPE COUNT [TIMEOUT-MS]`. Says "ready" when it listens, then each packet's source,
   destination and payload in hexadecimal, one packet a line. Exits with 0 after COUNT packets, 1 when the time is over, 2 when it can't listen. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

static void print(const unsigned char *bytes, size_t size, char end) {
  for (size_t i = 0; i < size; i++) printf("%02x", bytes[i]);
  putchar(end);
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  unsigned short type = htons((unsigned short)strtoul(argv[2], NULL, 0));
  int fd = socket(AF_PACKET, SOCK_RAW, type), timeout = argc > 4 ? atoi(argv[4]) : 5000;
  struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = type, .sll_ifindex = (int)if_nametoindex(argv[1])};
  if (fd < 0 || at.sll_ifindex == 0 || bind(fd, (struct sockaddr *)&at, sizeof at) != 0) {
    perror("sniff");
    return 2;
  }
  puts("ready");
  fflush(stdout);
  for (int left = atoi(argv[3]); left > 0;) {
    unsigned char packet[2048];
    struct sockaddr_ll from;
    socklen_t size = sizeof from;
    if (poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, timeout) != 1) return 1;
    ssize_t got = recvfrom(fd, packet, sizeof packet, 0, (struct sockaddr *)&from, &size);
    if (got < 14 || from.sll_pkttype == PACKET_OUTGOING) continue;
    print(packet + 6, 6, ' ');
    print(packet, 6, ' ');
    print(packet + 14, (size_t)got - 14, '\n');
    left--;
  }
  return 0;
}
