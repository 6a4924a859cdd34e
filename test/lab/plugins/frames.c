/* Sends frames as they are: `frames LINK`, with a frame in hexadecimal in each line of stdin. All are sent from one processor, so that their order stays. Exits
   with the number of frames that the kernel refused. */
#define _GNU_SOURCE
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

int main(int argc, char **argv) {
  static char line[8192];
  unsigned char frame[4096];
  if (argc != 2) return 200;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
  struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(argv[1])};
  int fd = socket(AF_PACKET, SOCK_RAW, 0), failed = 0;
  if (fd < 0 || at.sll_ifindex == 0) return 201;
  while (fgets(line, sizeof line, stdin) != NULL) {
    size_t size = 0;
    for (unsigned byte; size < sizeof frame && sscanf(line + 2 * size, "%2x", &byte) == 1; size++) frame[size] = (unsigned char)byte;
    if (sendto(fd, frame, size, 0, (struct sockaddr *)&at, sizeof at) != (ssize_t)size) perror("frames"), failed++;
  }
  return failed > 199 ? 199 : failed;
}
