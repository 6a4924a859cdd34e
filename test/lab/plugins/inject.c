/* Sends packets with any source: a line of stdin `SOURCE DESTINATION PROTOCOL SOURCE-PORT DESTINATION-PORT` is one packet of 40 bytes behind the IP
   header. An argument names the link that all packets leave by. With ICMP and ICMPv6 the source port is the type. Checksums of the payload stay zero. Exits with the number of packets that the
   kernel refused for another reason than EPERM, which a rule of the output hook causes. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { PAYLOAD = 40 };

int main(int argc, char **argv) {
  int failed = 0, on = 1, sockets[2] = {socket(AF_INET, SOCK_RAW, IPPROTO_RAW), socket(AF_INET6, SOCK_RAW, IPPROTO_RAW)};
  setsockopt(sockets[0], SOL_SOCKET, SO_BROADCAST, &on, sizeof on);
  for (int i = 0; i < 2 && argc > 1; i++)
    if (setsockopt(sockets[i], SOL_SOCKET, SO_BINDTODEVICE, argv[1], (socklen_t)strlen(argv[1])) != 0) return 201;
  char source[64], destination[64];
  unsigned protocol, from, to;
  while (scanf("%63s %63s %u %u %u", source, destination, &protocol, &from, &to) == 5) {
    unsigned char packet[sizeof(struct ip6_hdr) + PAYLOAD] = {0};
    int six = strchr(source, ':') != NULL;
    size_t header = six ? sizeof(struct ip6_hdr) : sizeof(struct ip);
    unsigned short ports[2] = {htons((unsigned short)from), htons((unsigned short)to)};
    if (protocol == IPPROTO_ICMP || protocol == IPPROTO_ICMPV6) packet[header] = (unsigned char)from;
    else memcpy(packet + header, ports, sizeof ports);
    if (protocol == IPPROTO_TCP) packet[header + 12] = 5 << 4, packet[header + 13] = 2 /* SYN */;
    if (protocol == IPPROTO_UDP) packet[header + 5] = PAYLOAD;
    ssize_t sent;
    if (six) {
      struct ip6_hdr ip = {.ip6_flow = htonl(6u << 28), .ip6_plen = htons(PAYLOAD), .ip6_nxt = (unsigned char)protocol, .ip6_hlim = 64};
      struct sockaddr_in6 at = {.sin6_family = AF_INET6};
      if (inet_pton(AF_INET6, source, &ip.ip6_src) != 1 || inet_pton(AF_INET6, destination, &ip.ip6_dst) != 1) return 200;
      at.sin6_addr = ip.ip6_dst;
      memcpy(packet, &ip, sizeof ip);
      sent = sendto(sockets[1], packet, header + PAYLOAD, 0, (struct sockaddr *)&at, sizeof at);
    } else {
      struct ip ip = {.ip_v = 4, .ip_hl = 5, .ip_len = htons(sizeof ip + PAYLOAD), .ip_ttl = 64, .ip_p = (unsigned char)protocol};
      struct sockaddr_in at = {.sin_family = AF_INET};
      if (inet_pton(AF_INET, source, &ip.ip_src) != 1 || inet_pton(AF_INET, destination, &ip.ip_dst) != 1) return 200;
      at.sin_addr = ip.ip_dst;
      memcpy(packet, &ip, sizeof ip);
      sent = sendto(sockets[0], packet, header + PAYLOAD, 0, (struct sockaddr *)&at, sizeof at);
    }
    if (sent < 0 && errno != EPERM) perror(destination), failed++;
  }
  return failed > 199 ? 199 : failed;
}
