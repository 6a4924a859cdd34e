/* Prints the packets that arrive on a link: `sniff LINK ETHERTYPE COUNT TIMEOUT-MS [PART]`. Prints "ready" when it listens,
   then a line for each packet: source, destination and payload in hexadecimal. With PART it prints only lines that contain
   PART. Exits with 0 after COUNT packets, 1 after TIMEOUT-MS without a packet, 2 if it cannot listen. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static char *print(char *to, const unsigned char *bytes, size_t size, char end) {
  for (size_t i = 0; i < size; i++) to += sprintf(to, "%02x", bytes[i]);
  *to++ = end;
  *to = 0;
  return to;
}

int main(int argc, char **argv) {
  if (argc < 5) return 2;
  unsigned short type = htons((unsigned short)strtoul(argv[2], NULL, 0));
  int fd = socket(AF_PACKET, SOCK_RAW, type), timeout = atoi(argv[4]);
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
    char line[2 * sizeof packet + 4];
    print(print(print(line, packet + 6, 6, ' '), packet, 6, ' '), packet + 14, (size_t)got - 14, '\n');
    if (argc > 5 && strstr(line, argv[5]) == NULL) continue;
    fputs(line, stdout);
    fflush(stdout);
    left--;
  }
  return 0;
}
