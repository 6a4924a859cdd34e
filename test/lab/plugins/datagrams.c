/* Sends UDP datagrams to port 9 of each address, every millisecond, whether or not there is a way yet: `datagrams ADDRESS…`. Prints "ready" before the first one. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  if (fd < 0 || puts("ready") < 0 || fflush(stdout) != 0) return 1;
  for (;; usleep(1000))
    for (int i = 1; i < argc; i++) {
      struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
      if (inet_pton(AF_INET, argv[i], &to.sin_addr) != 1) return 2;
      /* Without a way the next one tries again. */
      if (sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof to) < 0) continue;
    }
}
