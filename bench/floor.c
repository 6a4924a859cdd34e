/* The least cost of attaching a pod: the kernel work of the reference plugins `bridge` (on an existing bridge, with or without
   isDefaultGateway) and `host-local`. The benchmark starts this program for each call, as a runtime starts a plugin. The
   program makes no decisions, checks little and undoes nothing. It is a lower bound for benchmarks, not a plugin.

   CNI_COMMAND is ADD or DEL; CNI_CONTAINERID, CNI_NETNS and CNI_IFNAME are as for a plugin. Variables replace the
   configuration, so that the program reads no JSON: FLOOR_BRIDGE; FLOOR_SUBNET (the subnet's first address); FLOOR_PREFIX
   (the subnet's prefix length); FLOOR_GATEWAY (1: the bridge has the address after the first, and the pod has a default
   route to it; 0: neither); FLOOR_LEASES (the network's directory, in host-local's format). stdin is read to its end. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static void die(const char *what) {
  printf("{\"cniVersion\":\"1.0.0\",\"code\":999,\"msg\":\"floor: %s: %s\"}\n", what, strerror(errno));
  fflush(stdout);
  _exit(1);
}

static const char *variable(const char *name) {
  const char *value = getenv(name);
  if (value == NULL) {
    errno = EINVAL;
    die(name);
  }
  return value;
}

/* --- rtnetlink: messages are collected and sent together; the kernel answers each --- */

struct batch {
  _Alignas(NLMSG_ALIGNTO) char bytes[4096];
  size_t size;
  struct nlmsghdr *last;
  uint32_t count; /* messages, numbered from 1 */
};

static void *appended(struct batch *batch, size_t size) {
  void *at = batch->bytes + batch->size;
  if (batch->size + NLMSG_ALIGN(size) > sizeof batch->bytes) die("a message is too long");
  memset(at, 0, NLMSG_ALIGN(size));
  batch->size += NLMSG_ALIGN(size);
  batch->last->nlmsg_len = (uint32_t)(batch->bytes + batch->size - (char *)batch->last);
  return at;
}

static void *message(struct batch *batch, uint16_t type, uint16_t flags, size_t body) {
  batch->last = (struct nlmsghdr *)(batch->bytes + batch->size);
  struct nlmsghdr *header = appended(batch, sizeof *header);
  header->nlmsg_type = type;
  header->nlmsg_flags = NLM_F_REQUEST | flags;
  header->nlmsg_seq = ++batch->count;
  return appended(batch, body);
}

static void attribute(struct batch *batch, uint16_t type, const void *value, size_t size) {
  struct rtattr *header = appended(batch, RTA_LENGTH(size));
  header->rta_type = type;
  header->rta_len = (uint16_t)RTA_LENGTH(size);
  memcpy(RTA_DATA(header), value, size);
}

static void text(struct batch *batch, uint16_t type, const char *value) { attribute(batch, type, value, strlen(value) + 1); }
static void number(struct batch *batch, uint16_t type, uint32_t value) { attribute(batch, type, &value, sizeof value); }

static struct rtattr *open_nest(struct batch *batch, uint16_t type) {
  struct rtattr *header = appended(batch, sizeof *header);
  header->rta_type = type;
  return header;
}

static void close_nest(struct batch *batch, struct rtattr *header) {
  header->rta_len = (uint16_t)(batch->bytes + batch->size - (char *)header);
}

static int rtnetlink(void) {
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), on = 1;
  if (fd < 0 || setsockopt(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof on) != 0) die("netlink");
  return fd;
}

/* Sends all messages and passes each answer, except acknowledgements, to `handle`. An error ends the program, unless its
   errno is `allowed_errno`. */
static void exchange(int fd, struct batch *batch, int allowed_errno, void (*handle)(const struct nlmsghdr *, void *), void *context) {
  static _Alignas(NLMSG_ALIGNTO) char answers[65536];
  if (send(fd, batch->bytes, batch->size, 0) != (ssize_t)batch->size) die("sending netlink");
  for (uint32_t ended = 0; ended < batch->count;) {
    ssize_t size = recv(fd, answers, sizeof answers, 0);
    if (size < 0) die("receiving netlink");
    size_t left = (size_t)size;
    for (struct nlmsghdr *each = (struct nlmsghdr *)answers; NLMSG_OK(each, left); each = NLMSG_NEXT(each, left)) {
      if (each->nlmsg_type == NLMSG_DONE) {
        ended++;
      } else if (each->nlmsg_type == NLMSG_ERROR) {
        int error = -((const struct nlmsgerr *)NLMSG_DATA(each))->error;
        errno = error;
        if (error != 0 && error != allowed_errno) die("the kernel refused");
        ended++;
      } else if (handle != NULL) {
        handle(each, context);
      }
    }
  }
}

/* --- the kernel's answers --- */

struct seen {
  int index, peer; /* a veth's index, and the index of its other end */
  uint32_t wanted; /* the IPv4 address to look for */
  int has_wanted;
  unsigned char mac[6];
};

static void see(const struct nlmsghdr *header, void *context) {
  struct seen *seen = context;
  if (header->nlmsg_type == RTM_NEWLINK) {
    const struct ifinfomsg *link = NLMSG_DATA(header);
    seen->index = link->ifi_index;
    int left = (int)IFLA_PAYLOAD(header);
    for (struct rtattr *each = IFLA_RTA(link); RTA_OK(each, left); each = RTA_NEXT(each, left)) {
      if (each->rta_type == IFLA_LINK) memcpy(&seen->peer, RTA_DATA(each), sizeof seen->peer);
      if (each->rta_type == IFLA_ADDRESS && RTA_PAYLOAD(each) == sizeof seen->mac)
        memcpy(seen->mac, RTA_DATA(each), sizeof seen->mac);
    }
  } else if (header->nlmsg_type == RTM_NEWADDR) {
    const struct ifaddrmsg *address = NLMSG_DATA(header);
    int left = (int)IFA_PAYLOAD(header);
    for (struct rtattr *each = IFA_RTA(address); RTA_OK(each, left); each = RTA_NEXT(each, left))
      if (each->rta_type == IFA_LOCAL && memcmp(RTA_DATA(each), &seen->wanted, 4) == 0) seen->has_wanted = 1;
  }
}

static void ask_link(struct batch *batch, const char *name) {
  message(batch, RTM_GETLINK, NLM_F_ACK, sizeof(struct ifinfomsg));
  text(batch, IFLA_IFNAME, name);
}

/* Appends a dump request, which must be the last message of its batch. */
static void ask_addresses(struct batch *batch, int index) {
  struct ifaddrmsg *body = message(batch, RTM_GETADDR, NLM_F_DUMP, sizeof *body);
  body->ifa_family = AF_INET;
  body->ifa_index = (uint32_t)index;
}

static void find_link(int fd, const char *name, struct seen *seen) {
  struct batch batch = {0};
  ask_link(&batch, name);
  exchange(fd, &batch, 0, see, seen);
}

/* --- leases, in host-local's files --- */

struct lease {
  uint32_t address; /* network order */
  char name[INET_ADDRSTRLEN];
};

struct store {
  int at, lock;
};

static struct store locked(const char *directory) {
  struct store store = {.at = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (store.at < 0) die(directory);
  store.lock = openat(store.at, "lock", O_CREAT | O_RDONLY | O_CLOEXEC, 0750);
  if (store.lock < 0 || flock(store.lock, LOCK_EX) != 0) die("lock");
  return store;
}

static void unlocked(struct store store) {
  close(store.at);
  close(store.lock);
}

static size_t content(int at, const char *name, char *into, size_t size) {
  int fd = openat(at, name, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t got = read(fd, into, size - 1);
  close(fd);
  into[got < 0 ? 0 : got] = '\0';
  return got < 0 ? 0 : (size_t)got;
}

/* Returns the number of this owner's leases, and deletes them if `remove` is set. */
static int leases_of(int at, const char *owner, int remove) {
  int found = 0;
  DIR *all = fdopendir(dup(at));
  if (all == NULL) die("the leases");
  for (struct dirent *each; (each = readdir(all)) != NULL;) {
    char held[512];
    if (each->d_name[0] == '.' || each->d_name[0] == 'l') continue; /* lock, last_reserved_ip */
    content(at, each->d_name, held, sizeof held);
    if (strcmp(held, owner) != 0) continue;
    found++;
    if (remove && unlinkat(at, each->d_name, 0) != 0) die(each->d_name);
  }
  closedir(all);
  return found;
}

static struct lease reserve(const char *directory, uint32_t subnet, int prefix, const char *owner) {
  struct store store = locked(directory);
  int at = store.at;
  if (leases_of(at, owner, 0) > 0) {
    errno = EEXIST;
    die("the pod has an address");
  }
  uint32_t first = ntohl(subnet) + 2, last = ntohl(subnet) + (uint32_t)((1ull << (32 - prefix)) - 2), next = first;
  int position = openat(at, "last_reserved_ip.0", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (position < 0) die("last_reserved_ip.0");
  char before[INET_ADDRSTRLEN] = "";
  struct in_addr earlier;
  ssize_t known = read(position, before, sizeof before - 1);
  if (known > 0 && inet_pton(AF_INET, before, &earlier) == 1) next = ntohl(earlier.s_addr) + 1;
  for (uint32_t tried = 0; tried <= last - first; tried++, next++) {
    if (next < first || next > last) next = first;
    struct lease lease = {.address = htonl(next)};
    inet_ntop(AF_INET, &lease.address, lease.name, sizeof lease.name);
    int file = openat(at, lease.name, O_RDWR | O_EXCL | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0) {
      if (errno == EEXIST) continue;
      die(lease.name);
    }
    size_t size = strlen(owner), length = strlen(lease.name);
    if (write(file, owner, size) != (ssize_t)size) die(lease.name);
    close(file);
    if (pwrite(position, lease.name, length, 0) != (ssize_t)length || ftruncate(position, (off_t)length) != 0)
      die("last_reserved_ip.0");
    close(position);
    unlocked(store);
    return lease;
  }
  errno = ENOSPC;
  die("addresses");
  return (struct lease){0};
}

/* --- ADD and DEL --- */

static int pod_socket(const char *path, int *namespace) {
  *namespace = open(path, O_RDONLY | O_CLOEXEC);
  if (*namespace < 0) return -1;
  if (setns(*namespace, CLONE_NEWNET) != 0) die(path);
  return rtnetlink();
}

static void allow_forwarding(void) {
  int fd = open("/proc/sys/net/ipv4/ip_forward", O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, "1", 1) != 1) die("ip_forward");
  close(fd);
}

static void make_pair(int host, int namespace, const char *name, const char *ifname, int bridge, struct seen *seen) {
  struct batch batch = {0};
  struct ifinfomsg *link =
      message(&batch, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL | NLM_F_ECHO | NLM_F_ACK, sizeof(struct ifinfomsg));
  link->ifi_flags = IFF_UP;
  link->ifi_change = IFF_UP;
  text(&batch, IFLA_IFNAME, name);
  number(&batch, IFLA_MASTER, (uint32_t)bridge);
  struct rtattr *info = open_nest(&batch, IFLA_LINKINFO);
  text(&batch, IFLA_INFO_KIND, "veth");
  struct rtattr *data = open_nest(&batch, IFLA_INFO_DATA), *peer = open_nest(&batch, VETH_INFO_PEER);
  appended(&batch, sizeof(struct ifinfomsg));
  text(&batch, IFLA_IFNAME, ifname);
  number(&batch, IFLA_NET_NS_FD, (uint32_t)namespace);
  close_nest(&batch, peer);
  close_nest(&batch, data);
  close_nest(&batch, info);
  exchange(host, &batch, 0, see, seen);
}

static void link_change(struct batch *batch, int index, unsigned flags) {
  struct ifinfomsg *link = message(batch, RTM_SETLINK, NLM_F_ACK, sizeof *link);
  link->ifi_index = index;
  link->ifi_flags = flags;
  link->ifi_change = flags;
}

/* Sets the pod's address and default route and brings its link up; without a route if `gateway` is 0. */
static void settle_pod(int pod, int index, struct lease lease, int prefix, uint32_t gateway, const char *ifname, struct seen *seen) {
  struct batch batch = {0};
  link_change(&batch, index, 0);
  struct rtattr *families = open_nest(&batch, IFLA_AF_SPEC), *inet = open_nest(&batch, AF_INET), *settings = open_nest(&batch, IFLA_INET_CONF);
  number(&batch, 22, 1); /* IPV4_DEVCONF_ARP_NOTIFY, as bridge sets it */
  close_nest(&batch, settings);
  close_nest(&batch, inet);
  close_nest(&batch, families);
  struct ifaddrmsg *address = message(&batch, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK, sizeof *address);
  address->ifa_family = AF_INET;
  address->ifa_prefixlen = (uint8_t)prefix;
  address->ifa_index = (uint32_t)index;
  number(&batch, IFA_LOCAL, lease.address);
  number(&batch, IFA_ADDRESS, lease.address);
  uint32_t broadcast = lease.address | htonl((uint32_t)((1ull << (32 - prefix)) - 1));
  number(&batch, IFA_BROADCAST, broadcast);
  link_change(&batch, index, IFF_UP);
  if (gateway != 0) {
    struct rtmsg *route = message(&batch, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK, sizeof *route);
    route->rtm_family = AF_INET;
    route->rtm_table = RT_TABLE_MAIN;
    route->rtm_protocol = RTPROT_BOOT;
    route->rtm_scope = RT_SCOPE_UNIVERSE;
    route->rtm_type = RTN_UNICAST;
    number(&batch, RTA_GATEWAY, gateway);
    number(&batch, RTA_OIF, (uint32_t)index);
  }
  ask_link(&batch, ifname);
  ask_addresses(&batch, index);
  seen->wanted = lease.address;
  exchange(pod, &batch, 0, see, seen);
}

static void print_mac(char *into, const unsigned char *mac) {
  sprintf(into, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
}

static void add(uint32_t subnet, int prefix, const char *owner, const char *ifname) {
  const char *bridge_name = variable("FLOOR_BRIDGE"), *path = variable("CNI_NETNS");
  uint32_t gateway = atoi(variable("FLOOR_GATEWAY")) == 1 ? htonl(ntohl(subnet) + 1) : 0;
  struct seen bridge = {.wanted = gateway}, host_end = {0}, pod_end = {0};
  int host = rtnetlink(), namespace;
  find_link(host, bridge_name, &bridge);
  if (gateway != 0) {
    struct batch addresses = {0};
    ask_addresses(&addresses, bridge.index);
    exchange(host, &addresses, 0, see, &bridge);
    if (!bridge.has_wanted) {
      errno = EADDRNOTAVAIL;
      die(bridge_name);
    }
    allow_forwarding();
  }
  struct lease lease = reserve(variable("FLOOR_LEASES"), subnet, prefix, owner);
  int pod = pod_socket(path, &namespace);
  if (pod < 0) die(path);
  uint32_t random;
  if (getrandom(&random, sizeof random, 0) != sizeof random) die("random");
  char name[IFNAMSIZ];
  snprintf(name, sizeof name, "veth%08x", random);
  make_pair(host, namespace, name, ifname, bridge.index, &host_end);
  settle_pod(pod, host_end.peer, lease, prefix, gateway, ifname, &pod_end);
  if (!pod_end.has_wanted) {
    errno = EADDRNOTAVAIL;
    die("the pod");
  }
  char macs[3][18], gateway_text[INET_ADDRSTRLEN];
  print_mac(macs[0], bridge.mac);
  print_mac(macs[1], host_end.mac);
  print_mac(macs[2], pod_end.mac);
  printf("{\"cniVersion\":\"1.0.0\",\"interfaces\":[{\"name\":\"%s\",\"mac\":\"%s\"},{\"name\":\"%s\",\"mac\":\"%s\"},"
         "{\"name\":\"%s\",\"mac\":\"%s\",\"sandbox\":\"%s\"}],\"ips\":[{\"interface\":2,\"address\":\"%s/%d\"",
         bridge_name, macs[0], name, macs[1], ifname, macs[2], path, lease.name, prefix);
  if (gateway != 0) {
    inet_ntop(AF_INET, &gateway, gateway_text, sizeof gateway_text);
    printf(",\"gateway\":\"%s\"}],\"routes\":[{\"dst\":\"0.0.0.0/0\",\"gw\":\"%s\"", gateway_text, gateway_text);
  }
  printf("}],\"dns\":{}}\n");
}

static void del(const char *owner, const char *ifname) {
  struct store store = locked(variable("FLOOR_LEASES"));
  leases_of(store.at, owner, 1);
  unlocked(store); /* before the link's deletion, which takes milliseconds */
  int namespace, pod = pod_socket(variable("CNI_NETNS"), &namespace);
  if (pod < 0) {
    if (errno == ENOENT) return;
    die("CNI_NETNS");
  }
  struct batch batch = {0};
  message(&batch, RTM_DELLINK, NLM_F_ACK, sizeof(struct ifinfomsg));
  text(&batch, IFLA_IFNAME, ifname);
  exchange(pod, &batch, ENODEV, NULL, NULL);
}

int main(void) {
  char ignored[65536], owner[512];
  while (read(0, ignored, sizeof ignored) > 0) continue;
  const char *command = variable("CNI_COMMAND"), *ifname = variable("CNI_IFNAME");
  snprintf(owner, sizeof owner, "%s\r\n%s", variable("CNI_CONTAINERID"), ifname);
  struct in_addr subnet;
  if (inet_pton(AF_INET, variable("FLOOR_SUBNET"), &subnet) != 1) die("FLOOR_SUBNET");
  if (strcmp(command, "ADD") == 0) add(subnet.s_addr, atoi(variable("FLOOR_PREFIX")), owner, ifname);
  else if (strcmp(command, "DEL") == 0) del(owner, ifname);
  else {
    errno = EINVAL;
    die(command);
  }
  return fflush(stdout) == 0 ? 0 : 1;
}
