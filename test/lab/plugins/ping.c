/* Sends ICMP echo requests, for machines without ping: `ping ADDRESS [COUNT]`, IPv4 or IPv6, one each 200 ms. Exits with 0 if a
   reply arrives, 1 if none arrives, 2 if a request cannot be sent. Needs CAP_NET_RAW, which tests have in private namespaces.
   COUNT (default 10) is the limit: a reply that waits in the socket counts, however late a busy machine lets this program run. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static long long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static unsigned short checksum(const unsigned char *bytes, size_t length) {
  unsigned long sum = 0;
  for (size_t i = 0; i < length; i += 2) sum += (unsigned long)bytes[i] << 8 | bytes[i + 1];
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return htons((unsigned short)~sum);
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  int count = argc > 2 ? atoi(argv[2]) : 10;
  struct sockaddr_in v4 = {.sin_family = AF_INET};
  struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
  int six = inet_pton(AF_INET6, argv[1], &v6.sin6_addr) == 1;
  if (!six && inet_pton(AF_INET, argv[1], &v4.sin_addr) != 1) return 2;
  int fd = socket(six ? AF_INET6 : AF_INET, SOCK_RAW | SOCK_CLOEXEC, six ? IPPROTO_ICMPV6 : IPPROTO_ICMP);
  if (fd < 0) {
    perror("ping: socket");
    return 2;
  }
  const struct sockaddr *to = six ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4;
  socklen_t to_length = six ? sizeof v6 : sizeof v4;
  if (connect(fd, to, to_length) != 0) {
    perror("ping: connect");
    return 2;
  }

  /* Type, code, checksum (by the kernel for IPv6), identifier, sequence, 8 bytes of data: the same layout in ICMP and ICMPv6. */
  unsigned char request[16] = {six ? ICMP6_ECHO_REQUEST : ICMP_ECHO, 0};
  unsigned short id = (unsigned short)getpid();
  memcpy(request + 4, &id, sizeof id);
  if (!six) {
    unsigned short sum = checksum(request, sizeof request);
    memcpy(request + 2, &sum, sizeof sum);
  }
  for (int sent = 0; sent < count; sent++) { /* several: the first may be lost while the kernel resolves the neighbour */
    if (send(fd, request, sizeof request, 0) < 0 && errno != EHOSTUNREACH) {
      perror("ping: send");
      return 2;
    }
    long long next = now_ms() + 200;
    for (;;) {
      long long left = next - now_ms();
      struct pollfd wait = {.fd = fd, .events = POLLIN};
      int ready = poll(&wait, 1, left > 0 ? (int)left : 0);
      if (ready < 0 && errno == EINTR) continue;
      if (ready <= 0) break;
      unsigned char reply[2048];
      ssize_t n = recv(fd, reply, sizeof reply, 0);
      size_t skip = six || n < 20 ? 0 : (size_t)(reply[0] & 0x0f) * 4;
      if (n < (ssize_t)skip + 8) continue;
      if (reply[skip] == (six ? ICMP6_ECHO_REPLY : ICMP_ECHOREPLY) && memcmp(reply + skip + 4, &id, sizeof id) == 0) return 0;
    }
  }
  return 1;
}
