/* Sends a netlink message to the socket of another process: `post PROTOCOL PORT`. Prints the errno: 0 where the socket has taken the message. */
#include <errno.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  struct sockaddr_nl to = {.nl_family = AF_NETLINK, .nl_pid = (unsigned)strtoul(argv[2], NULL, 10)};
  struct nlmsghdr message = {.nlmsg_len = sizeof message, .nlmsg_type = NLMSG_NOOP};
  int fd = socket(AF_NETLINK, SOCK_RAW, atoi(argv[1]));
  ssize_t sent = sendto(fd, &message, sizeof message, MSG_DONTWAIT, (struct sockaddr *)&to, sizeof to);
  printf("%d\n", sent < 0 ? errno : 0);
  return 0;
}
