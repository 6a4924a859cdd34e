#include "ask.h"
#include "ask-match.h"
#include "engine-connection.h"
#include "loop.h"
#include "packet.h"

#include <linux/filter.h>
#include <linux/if_packet.h>

struct ask {
    uint32_t channel; /* 0: a free slot */
    uint32_t kind, left; /* `left`: answers that may still come */
    struct watch watch;
    struct buffer keys, answers;
    bool begun;
};

static struct ask asks[ASKS_MAX];

static const struct {
    const char *name;
    uint16_t ethertype;
} kinds[ASK_KINDS] = {[ASK_ARP] = {"arp", 0x0806}, [ASK_NEIGHBOUR] = {"neighbour", 0x86dd}, [ASK_DHCP] = {"dhcp", 0x0800}, [ASK_ECHO] = {"echo", 0x0800}, [ASK_ECHO6] = {"echo6", 0x86dd}};

static bool is_kind(uint32_t kind) { return kind > 0 && kind < ASK_KINDS; }

const char *ask_kind_name(uint32_t kind) { return is_kind(kind) ? kinds[kind].name : NULL; }

bool ask_runs_on(uint32_t channel) {
    for (struct ask *ask = asks; ask < asks + ASKS_MAX; ask++)
        if (ask->channel == channel) return true;
    return false;
}

int open_ask(UNUSED const struct message *ask, UNUSED struct done *done) {
    return socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); /* protocol 0: receives nothing before bind() */
}

/*
 * Lets the kernel drop most other packets: the pod's own traffic must not wake the shim. ask_matches() decides. Offsets are those of the
 * network header.
 */
static bool set_filter(int fd, uint32_t kind) {
    struct sock_filter neighbour[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 6), /* next header: ICMPv6 */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 58, 0, 3),
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 40), /* its type: 135 or 136 */
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 137, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 135, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, PACKET_MAX),
    };
    struct sock_filter dhcp[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 9), /* protocol: UDP */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 17, 0, 3),
        BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0), /* the header's length */
        BPF_STMT(BPF_LD | BPF_W | BPF_IND, 0), /* both ports */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 67 << 16 | 68, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, PACKET_MAX),
    };
    struct sock_filter echo[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 9), /* protocol: ICMP */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, PACKET_MAX),
    };
    struct sock_filter echo6[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 6), /* next header: ICMPv6 */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 58, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, PACKET_MAX),
    };
    struct sock_fprog program = kind == ASK_NEIGHBOUR ? (struct sock_fprog){sizeof neighbour / sizeof *neighbour, neighbour}
                                : kind == ASK_DHCP    ? (struct sock_fprog){sizeof dhcp / sizeof *dhcp, dhcp}
                                : kind == ASK_ECHO    ? (struct sock_fprog){sizeof echo / sizeof *echo, echo}
                                                      : (struct sock_fprog){sizeof echo6 / sizeof *echo6, echo6};
    return kind == ASK_ARP || setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
}

static bool join(int fd, uint32_t index, const uint8_t *group) {
    struct packet_mreq request = {.mr_ifindex = (int)index, .mr_type = PACKET_MR_MULTICAST, .mr_alen = 6};
    memcpy(request.mr_address, group, 6);
    return setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request, sizeof request) == 0;
}

/* Answers come to all nodes, and probes of other hosts to the address' own group. The kernel joins them for addresses that it has, not before. */
static bool join_groups(int fd, uint32_t index, struct bytes keys) {
    bool joined = join(fd, index, (uint8_t[]){0x33, 0x33, 0, 0, 0, 1});
    for (uint32_t at = 0; joined && at + 16 <= keys.size; at += 16) {
        const uint8_t *end = keys.data + at + 13;
        joined = join(fd, index, (uint8_t[]){0x33, 0x33, 0xff, end[0], end[1], end[2]});
    }
    return joined;
}

static void answer(struct ask *ask) {
    struct message done = {.flag = ask->begun, .out = buffer_bytes(&ask->answers)};
    watch_close(&ask->watch);
    send_to_engine(DONE, ask->channel, &done);
    buffer_free(&ask->answers);
    buffer_free(&ask->keys);
    ask->channel = 0;
}

/* Appends the packet in the form of PACKET, with its sender in the place of its destination. */
static void keep(struct ask *ask, struct bytes packet, const struct sockaddr_ll *from) {
    uint32_t size = htole32(packet.size);
    buffer_append(&ask->answers, &size, sizeof size);
    buffer_append(&ask->answers, &from->sll_protocol, 2);
    buffer_append(&ask->answers, from->sll_addr, 6);
    buffer_append(&ask->answers, packet.data, packet.size);
    ask->left--;
}

/* Takes a few packets. Errors, such as those of a link that goes down, pass: the ASK ends at its time. */
static void collect(struct watch *watch, short revents) {
    static uint8_t piece[PACKET_MAX];
    struct ask *ask = watch->owner;
    for (int count = 0; revents != 0 && ask->left > 0 && count < PACKETS_MAX; count++) {
        struct sockaddr_ll from = {0};
        socklen_t from_size = sizeof from;
        ssize_t got = recvfrom(watch->fd, piece, sizeof piece, MSG_DONTWAIT | MSG_TRUNC, (struct sockaddr *)&from, &from_size);
        if (got < 0) break;
        struct bytes packet = {.data = piece, .size = (uint32_t)got};
        if (got <= PACKET_MAX && from.sll_pkttype != PACKET_OUTGOING && ask_matches(ask->kind, buffer_bytes(&ask->keys), packet)) keep(ask, packet, &from);
    }
    if (ask->left == 0 || now_us() >= watch->due) answer(ask);
}

/* Whether the ASK is well-formed: its packets are of its kind, too. */
static bool is_well_formed(const struct message *ask) {
    uint32_t size = is_kind(ask->protocol) ? ask_key_size(ask->protocol) : 1;
    if (!is_kind(ask->protocol) || ask->identity.size == 0 || ask->identity.size % size != 0 || ask->identity.size / size > PACKETS_MAX) return false;
    if (ask->out_cap == 0 || ask->out_cap > PACKETS_MAX) return false;
    for (struct bytes rest = ask->in; rest.size >= 12;) {
        uint32_t length;
        memcpy(&length, rest.data, sizeof length);
        length = le32toh(length);
        if ((rest.data[4] << 8 | rest.data[5]) != kinds[ask->protocol].ethertype) return false;
        if (length > rest.size - 12) break; /* send_packets() refuses the same */
        rest = bytes_after(rest, 12 + length);
    }
    return true;
}

bool begin_ask(int fd, uint32_t channel, const struct message *request, struct done *done) {
    struct ask *ask = asks;
    while (ask < asks + ASKS_MAX && ask->channel != 0) ask++;
    done->error = !is_well_formed(request) ? EINVAL : ask == asks + ASKS_MAX ? EAGAIN : 0;
    if (done->error != 0) return false;
    struct sockaddr_ll place = {.sll_family = AF_PACKET, .sll_protocol = htobe16(kinds[request->protocol].ethertype), .sll_ifindex = (int)request->index};
    bool ready = request->index != 0 && set_filter(fd, request->protocol) && (request->protocol != ASK_NEIGHBOUR || join_groups(fd, request->index, request->identity)) &&
                 bind(fd, (struct sockaddr *)&place, sizeof place) == 0;
    if (!ready) done->error = request->index == 0 ? ENXIO : errno;
    if (ready) send_packets(fd, request, done);
    if (done->error != 0) return false;
    *ask = (struct ask){.channel = channel, .kind = request->protocol, .left = request->out_cap, .begun = done->begun};
    buffer_append(&ask->keys, request->identity.data, request->identity.size);
    uint32_t ms = request->deadline_ms < ASK_MS ? request->deadline_ms : ASK_MS;
    ask->watch = (struct watch){.fd = fd, .events = POLLIN, .due = in_ms(ms), .wake = collect, .owner = ask};
    watch_add(&ask->watch);
    return true;
}

void stop_asks(void) {
    for (struct ask *ask = asks; ask < asks + ASKS_MAX; ask++) {
        if (ask->channel == 0) continue;
        watch_close(&ask->watch);
        buffer_free(&ask->answers);
        buffer_free(&ask->keys);
        ask->channel = 0;
    }
}
