#include "ask-match.h"

enum { IPV4_HEADER = 20, IPV6_HEADER = 40, UDP_HEADER = 8, ICMP_HEADER = 8, BOOTP_HEADER = 240, PROTOCOL_ICMP = 1, PROTOCOL_ICMPV6 = 58, PROTOCOL_UDP = 17 };

uint32_t ask_key_size(uint32_t kind) { return kind == ASK_NEIGHBOUR || kind == ASK_ECHO6 ? 16 : 4; }

static bool has_key(uint32_t kind, struct bytes keys, const uint8_t *value) {
    uint32_t size = ask_key_size(kind);
    for (uint32_t at = 0; at + size <= keys.size; at += size)
        if (memcmp(keys.data + at, value, size) == 0) return true;
    return false;
}

static bool is_zero(const uint8_t *data, uint32_t size) {
    for (uint32_t at = 0; at < size; at++)
        if (data[at] != 0) return false;
    return true;
}

/* Ethernet and IPv4. The sender has the address, or probes for it at this moment (RFC 5227 section 2.1.1). */
static bool is_arp(struct bytes keys, struct bytes packet) {
    static const uint8_t head[] = {0, 1, 8, 0, 6, 4, 0};
    const uint8_t *sender = packet.data + 14, *target = packet.data + 24;
    if (packet.size < 28 || memcmp(packet.data, head, sizeof head) != 0 || packet.data[7] < 1 || packet.data[7] > 2) return false;
    return has_key(ASK_ARP, keys, sender) || (packet.data[7] == 1 && is_zero(sender, 4) && has_key(ASK_ARP, keys, target));
}

/* An advertisement of the address, or a solicitation without a source, by which another host probes for it (RFC 4862 section 5.4.3). */
static bool is_neighbour(struct bytes keys, struct bytes packet) {
    const uint8_t *message = packet.data + IPV6_HEADER;
    if (packet.size < IPV6_HEADER + 24 || packet.data[0] >> 4 != 6 || packet.data[6] != PROTOCOL_ICMPV6 || packet.data[7] != 255) return false;
    bool probes = message[0] == 135 && is_zero(packet.data + 8, 16);
    return message[1] == 0 && (message[0] == 136 || probes) && has_key(ASK_NEIGHBOUR, keys, message + 8);
}

/* A whole UDP packet from a server's port to the client's, with a BOOTREPLY of the transaction (RFC 2131). */
static bool is_dhcp(struct bytes keys, struct bytes packet) {
    if (packet.size < 20 || packet.data[0] >> 4 != 4 || packet.data[9] != PROTOCOL_UDP) return false;
    uint32_t header = (packet.data[0] & 15u) * 4;
    bool fragment = (packet.data[6] & 0x3f) != 0 || packet.data[7] != 0;
    if (header < 20 || fragment || packet.size < header + UDP_HEADER + BOOTP_HEADER) return false;
    const uint8_t *udp = packet.data + header, *bootp = udp + UDP_HEADER;
    return udp[0] == 0 && udp[1] == 67 && udp[2] == 0 && udp[3] == 68 && bootp[0] == 2 && has_key(ASK_DHCP, keys, bootp + 4);
}

/* An echo reply of the address, or an error about a packet to it that is not reachable, too big or has expired (RFC 792). */
static bool is_echo(struct bytes keys, struct bytes packet) {
    if (packet.size < IPV4_HEADER || packet.data[0] >> 4 != 4 || packet.data[9] != PROTOCOL_ICMP) return false;
    uint32_t header = (packet.data[0] & 15u) * 4;
    bool fragment = (packet.data[6] & 0x3f) != 0 || packet.data[7] != 0;
    if (header < IPV4_HEADER || fragment || packet.size < header + ICMP_HEADER) return false;
    const uint8_t *message = packet.data + header, *quoted = message + ICMP_HEADER;
    if (message[0] == 0) return has_key(ASK_ECHO, keys, packet.data + 12);
    bool about_other = packet.size < header + ICMP_HEADER + IPV4_HEADER || quoted[9] != PROTOCOL_ICMP;
    return (message[0] == 3 || message[0] == 11) && !about_other && has_key(ASK_ECHO, keys, quoted + 16);
}

/* The same of IPv6 (RFC 4443): an echo reply, or an error with the packet that it is about. */
static bool is_echo6(struct bytes keys, struct bytes packet) {
    const uint8_t *message = packet.data + IPV6_HEADER, *quoted = message + ICMP_HEADER;
    if (packet.size < IPV6_HEADER + ICMP_HEADER || packet.data[0] >> 4 != 6 || packet.data[6] != PROTOCOL_ICMPV6) return false;
    if (message[0] == 129) return has_key(ASK_ECHO6, keys, packet.data + 8);
    bool about_other = packet.size < IPV6_HEADER + ICMP_HEADER + IPV6_HEADER || quoted[6] != PROTOCOL_ICMPV6;
    return message[0] >= 1 && message[0] <= 3 && !about_other && has_key(ASK_ECHO6, keys, quoted + 24);
}

bool ask_matches(uint32_t kind, struct bytes keys, struct bytes packet) {
    static bool (*const matchers[])(struct bytes keys, struct bytes packet) = {
        [ASK_ARP] = is_arp, [ASK_NEIGHBOUR] = is_neighbour, [ASK_DHCP] = is_dhcp, [ASK_ECHO] = is_echo, [ASK_ECHO6] = is_echo6,
    };
    return matchers[kind](keys, packet);
}
