/* SCTP sockets, which Node lacks, over IPv4 or IPv6. `sctp serve PORT` sends each client the client's address. `sctp ask
   ADDRESS PORT` prints the server's answer. `sctp` alone exits with 0 if the kernel has SCTP. Timeouts are the kernel's. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int serve(const char *port) {
  struct sockaddr_in6 listener = {.sin6_family = AF_INET6, .sin6_port = htons((unsigned short)atoi(port)), .sin6_addr = in6addr_any};
  int server = socket(AF_INET6, SOCK_STREAM, IPPROTO_SCTP), no = 0;
  setsockopt(server, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  if (bind(server, (struct sockaddr *)&listener, sizeof listener) != 0 || listen(server, 8) != 0) return 1;
  puts("ready");
  fflush(stdout);
  for (;;) {
    struct sockaddr_in6 peer;
    socklen_t size = sizeof peer;
    char text[INET6_ADDRSTRLEN] = "";
    int client = accept(server, (struct sockaddr *)&peer, &size);
    if (client < 0) return 1;
    inet_ntop(AF_INET6, &peer.sin6_addr, text, sizeof text);
    if (send(client, text, strlen(text), MSG_NOSIGNAL) < 0) perror("send");
    close(client);
  }
}

static int ask(const char *address, const char *port) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV}, *server = NULL;
  char text[INET6_ADDRSTRLEN + 1] = "";
  if (getaddrinfo(address, port, &hints, &server) != 0) return 2;
  int fd = socket(server->ai_family, SOCK_STREAM, IPPROTO_SCTP);
  if (connect(fd, server->ai_addr, server->ai_addrlen) != 0 || recv(fd, text, sizeof text - 1, 0) <= 0) return 1;
  puts(text);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "serve") == 0) return serve(argv[2]);
  if (argc == 4 && strcmp(argv[1], "ask") == 0) return ask(argv[2], argv[3]);
  return socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP) < 0;
}
