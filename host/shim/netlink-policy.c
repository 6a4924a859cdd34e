#include "netlink-policy.h"
#include "policy-file.h"

#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <linux/veth.h>

/* Messages of nftables behind NFT_MSG_DELFLOWTABLE may be changes that headers do not know. */
enum { TABLE_NAME_SIZE = 300, LAST_KNOWN_CHANGE = NFT_MSG_DELFLOWTABLE };
enum { NAME_SIZE = 64, DEPTH_MAX = 2 /* a link and its peer */, NEW_LINK_NAME = 108 /* RTM_NEWLINKPROP, which headers before Linux 5.5 lack */ };

static const char *const objects[] = {"link", "addr", "route", "neigh", "rule", "qdisc", "tclass", "tfilter"};
static const char *const verbs[] = {"new", "del", "get", "set"};
static const char *const nftables[] = {"newtable", "gettable", "deltable", "newchain",   "getchain",   "delchain",   "newrule", "getrule", "delrule",
                                       "newset",   "getset",   "delset",   "newsetelem", "getsetelem", "delsetelem", "newgen",  "getgen"};
static const char *const conntrack[] = {"new", "get", "delete"};

#define NAME_IN(table, index) ((index) < sizeof(table) / sizeof *(table) ? (table)[index] : NULL)

/* `route/newlink`, or `route/84` for a type without a name here. */
static void route_name(unsigned type, char name[NAME_SIZE]) {
    unsigned index = type - RTM_BASE;
    const char *object = type < RTM_BASE ? NULL : NAME_IN(objects, index / 4);
    if (type >= RTM_NEWNSID && type <= RTM_GETNSID) object = "nsid";
    if (type >= NEW_LINK_NAME && type < NEW_LINK_NAME + 3) object = "linkprop";
    if (object == NULL) snprintf(name, NAME_SIZE, "route/%u", type);
    else snprintf(name, NAME_SIZE, "route/%s%s", verbs[index % 4], object);
}

/* `netfilter/nftables/newrule`, or numbers for what has no name here. */
static void netfilter_name(unsigned type, char name[NAME_SIZE]) {
    unsigned system = type >> 8, message = type & 0xff;
    const char *known = system == NFNL_SUBSYS_NFTABLES ? NAME_IN(nftables, message) : system == NFNL_SUBSYS_CTNETLINK ? NAME_IN(conntrack, message) : NULL;
    const char *system_name = system == NFNL_SUBSYS_NFTABLES ? "nftables" : system == NFNL_SUBSYS_CTNETLINK ? "conntrack" : NULL;
    if (known != NULL) snprintf(name, NAME_SIZE, "netfilter/%s/%s", system_name, known);
    else if (system_name != NULL) snprintf(name, NAME_SIZE, "netfilter/%s/%u", system_name, message);
    else snprintf(name, NAME_SIZE, "netfilter/%u/%u", system, message);
}

/* Control messages (NLMSG_NOOP) and the two ends of a batch change nothing themselves. */
static bool is_allowed_on_node(uint32_t protocol, unsigned type) {
    char name[NAME_SIZE];
    if (type < NLMSG_MIN_TYPE || (protocol == NETLINK_NETFILTER && (type == NFNL_MSG_BATCH_BEGIN || type == NFNL_MSG_BATCH_END))) return true;
    if (protocol == NETLINK_NETFILTER) netfilter_name(type, name);
    else route_name(type, name);
    return policy_allows(POLICY_NODE_NETLINK, name, strlen(name));
}

/* Takes the next attribute from `rest`. False: none is left, by the rule of the kernel's parser. */
static bool next_attribute(struct bytes *rest, unsigned *type, struct bytes *value) {
    struct nlattr header;
    if (rest->size < sizeof header) return false;
    memcpy(&header, rest->data, sizeof header);
    if (header.nla_len < sizeof header || header.nla_len > rest->size) return false;
    *type = header.nla_type & NLA_TYPE_MASK;
    *value = (struct bytes){.data = rest->data + sizeof header, .size = header.nla_len - (uint32_t)sizeof header};
    uint32_t aligned = (uint32_t)NLA_ALIGN(header.nla_len);
    *rest = bytes_after(*rest, aligned < rest->size ? aligned : rest->size);
    return true;
}

/* Whether a link's attributes name a namespace by a process, an id, or a descriptor other than the second namespace's. */
static bool names_namespace(struct bytes link, int depth) {
    unsigned type;
    int descriptor;
    struct bytes rest, value, info, data;
    if (link.size < sizeof(struct ifinfomsg) || depth == DEPTH_MAX) return false;
    for (rest = bytes_after(link, sizeof(struct ifinfomsg)); next_attribute(&rest, &type, &value);) {
        if (type == IFLA_NET_NS_PID || type == IFLA_LINK_NETNSID || type == IFLA_TARGET_NETNSID) return true;
        if (type == IFLA_NET_NS_FD && (value.size < sizeof descriptor || (memcpy(&descriptor, value.data, sizeof descriptor), descriptor != NETLINK_SECOND_FD))) return true;
        if (type != IFLA_LINKINFO) continue;
        /* The second end of a veth is the first attribute of its kind's data. Shorter attributes of other kinds are no link. */
        while (next_attribute(&value, &type, &info)) {
            if (type != IFLA_INFO_DATA) continue;
            while (next_attribute(&info, &type, &data))
                if (type == VETH_INFO_PEER && names_namespace(data, depth + 1)) return true;
        }
    }
    return false;
}

static bool is_link(unsigned type) {
    return type >= RTM_NEWLINK && type <= RTM_SETLINK;
}

/* Whether a message about addresses names the namespace whose addresses the kernel lists, by an id. */
static bool names_namespace_of_addresses(unsigned type, struct bytes content) {
    struct bytes rest, value;
    bool is_address = (type >= RTM_NEWADDR && type <= RTM_GETADDR) || type == RTM_GETMULTICAST || type == RTM_GETANYCAST;
    if (!is_address || content.size < sizeof(struct ifaddrmsg)) return false;
    for (rest = bytes_after(content, sizeof(struct ifaddrmsg)); next_attribute(&rest, &type, &value);)
        if (type == IFA_TARGET_NETNSID) return true;
    return false;
}

/* The name of a link in the caller's namespace; false: there is none. */
static bool name_of(int index, char name[IFNAMSIZ]) {
    struct ifreq request = {.ifr_ifindex = index};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    bool found = fd >= 0 && ioctl(fd, SIOCGIFNAME, &request) == 0;
    if (found) memcpy(name, request.ifr_name, IFNAMSIZ);
    close(fd); /* -1: harmless */
    return found;
}

/* The change of an existing link that a message asks for. */
struct link_change {
    int index;           /* 0: the kernel finds the link by a name */
    char name[IFNAMSIZ]; /* the IFLA_IFNAME of the message, which may be empty */
    bool moves;          /* to another namespace */
    bool sets_functions; /* virtual functions of the link */
};

/* False: the message makes a link, or is not about a link. */
static bool read_change(const struct nlmsghdr *header, struct bytes link, struct link_change *change) {
    const unsigned makes = NLM_F_CREATE | NLM_F_EXCL;
    unsigned type;
    struct bytes rest, value;
    if (!is_link(header->nlmsg_type) || link.size < sizeof(struct ifinfomsg)) return false;
    /* RTM_SETLINK ignores these flags. */
    if (header->nlmsg_type == RTM_NEWLINK && (header->nlmsg_flags & makes) == makes) return false;
    *change = (struct link_change){0};
    memcpy(&change->index, link.data + offsetof(struct ifinfomsg, ifi_index), sizeof change->index);
    for (rest = bytes_after(link, sizeof(struct ifinfomsg)); next_attribute(&rest, &type, &value);) {
        if (type == IFLA_NET_NS_FD || type == IFLA_NET_NS_PID || type == IFLA_TARGET_NETNSID) change->moves = true;
        /* Port profiles are settings of virtual functions, too. */
        if (type == IFLA_VFINFO_LIST || type == IFLA_VF_PORTS || type == IFLA_PORT_SELF) change->sets_functions = true;
        if (type != IFLA_IFNAME) continue;
        memset(change->name, 0, IFNAMSIZ); /* the kernel takes the last one */
        memcpy(change->name, value.data, value.size < IFNAMSIZ ? value.size : IFNAMSIZ - 1);
    }
    return true;
}

/*
 * Whether a list of the policy allows the change of a link of the node; `acts`: the change is of the kind that the list bounds. A name in a message is no
 * proof: it may be an alternative name, or the name that an earlier message of the batch gives. So such a change names the index, and a link without a listed
 * name gets none.
 */
static bool change_is_allowed(const struct link_change *change, enum policy_list list, bool acts) {
    static const char what[] = "a change of a link without its index";
    char present[IFNAMSIZ] = "";
    bool renames = change->name[0] != 0 && policy_lists(list, change->name, strlen(change->name));
    if (!acts && (change->index <= 0 || !renames)) return true;
    if (change->index <= 0) return policy_lists(list, "", 0) || report_refusal(what, sizeof what - 1);
    if (!name_of(change->index, present)) present[0] = 0;
    return policy_allows(list, present, strlen(present));
}

/* Takes the next message from `rest`. False: none is left, or the rest is malformed. */
static bool next_message(struct bytes *rest, struct nlmsghdr *header, struct bytes *content) {
    if (rest->size < sizeof *header) return false;
    memcpy(header, rest->data, sizeof *header);
    if (header->nlmsg_len < sizeof *header || header->nlmsg_len > rest->size) return false;
    *content = (struct bytes){.data = rest->data + sizeof *header, .size = header->nlmsg_len - (uint32_t)sizeof *header};
    uint32_t aligned = (uint32_t)NLMSG_ALIGN(header->nlmsg_len);
    *rest = bytes_after(*rest, aligned < rest->size ? aligned : rest->size);
    return true;
}

bool moves_are_allowed(uint32_t protocol, struct bytes messages, bool leaving) {
    struct nlmsghdr header;
    struct bytes content;
    struct link_change change;
    if (!policy_bounds(POLICY_DEVICES) || protocol != NETLINK_ROUTE) return true;
    while (next_message(&messages, &header, &content)) {
        if (!read_change(&header, content, &change)) continue;
        if (leaving ? !change_is_allowed(&change, POLICY_DEVICES, change.moves) : change.moves && !policy_allows(POLICY_DEVICES, change.name, strlen(change.name))) return false;
    }
    return true;
}

/* The same for virtual functions, which a message sets at the link of their physical function on the node. */
static bool functions_are_allowed(uint32_t protocol, struct bytes messages, bool on_node) {
    static const char elsewhere[] = "virtual functions of a link that is not the node's";
    struct nlmsghdr header;
    struct bytes content;
    struct link_change change;
    if (!policy_bounds(POLICY_FUNCTIONS) || protocol != NETLINK_ROUTE) return true;
    while (next_message(&messages, &header, &content)) {
        if (!read_change(&header, content, &change)) continue;
        if (!on_node && change.sets_functions) return report_refusal(elsewhere, sizeof elsewhere - 1);
        if (on_node && !change_is_allowed(&change, POLICY_FUNCTIONS, change.sets_functions)) return false;
    }
    return true;
}

/* `netdev/plexus-policies-1`: the family and the table that a message of nftables names; false: no name, or a handle that the kernel prefers to the name. */
static bool table_name(unsigned message, struct bytes content, char name[TABLE_NAME_SIZE]) {
    static const char *const families[] = {[NFPROTO_INET] = "inet", [NFPROTO_IPV4] = "ip", [NFPROTO_ARP] = "arp", [NFPROTO_NETDEV] = "netdev", [NFPROTO_BRIDGE] = "bridge", [NFPROTO_IPV6] = "ip6"};
    unsigned type;
    struct bytes rest, value, table = {0};
    if (content.size < sizeof(struct nfgenmsg)) return false;
    const char *family = NAME_IN(families, content.data[0]);
    /* The attribute with the table's name has the same number in all messages. The kernel takes the last one. */
    for (rest = bytes_after(content, sizeof(struct nfgenmsg)); next_attribute(&rest, &type, &value);) {
        if (type == NFTA_TABLE_HANDLE && (message == NFT_MSG_DELTABLE || message > LAST_KNOWN_CHANGE)) return false;
        if (type == NFTA_TABLE_NAME) table = value;
    }
    const uint8_t *end = table.size == 0 ? NULL : memchr(table.data, 0, table.size);
    size_t length = end == NULL ? table.size : (size_t)(end - table.data);
    if (length == 0 || family == NULL) return false;
    return snprintf(name, TABLE_NAME_SIZE, "%s/%.*s", family, (int)length, (const char *)table.data) < TABLE_NAME_SIZE;
}

/* Whether the policy allows the table of each change of nftables' rules in the shim's own namespace. */
static bool tables_are_allowed(uint32_t protocol, struct bytes messages) {
    static const char what[] = "a change of nftables without a table's name";
    struct nlmsghdr header;
    struct bytes content;
    char name[TABLE_NAME_SIZE];
    if (!policy_bounds(POLICY_TABLES) || protocol != NETLINK_NETFILTER) return true;
    while (next_message(&messages, &header, &content)) {
        unsigned message = header.nlmsg_type & 0xff;
        if (header.nlmsg_type >> 8 != NFNL_SUBSYS_NFTABLES) continue;
        if (message == NFT_MSG_GETTABLE || message == NFT_MSG_GETCHAIN || message == NFT_MSG_GETRULE || message == NFT_MSG_GETSET || message == NFT_MSG_GETSETELEM || message == NFT_MSG_GETGEN) continue;
        if (!table_name(message, content, name)) return report_refusal(what, sizeof what - 1);
        if (!policy_allows(POLICY_TABLES, name, strlen(name))) return false;
    }
    return true;
}

bool netlink_is_allowed(uint32_t protocol, struct bytes messages, bool on_node) {
    static const char what[] = "a message that names a network namespace by a process or an id";
    struct nlmsghdr header;
    struct bytes content;
    if (!functions_are_allowed(protocol, messages, on_node)) return false;
    if (on_node && !tables_are_allowed(protocol, messages)) return false;
    if (!policy_bounds(POLICY_NODE_NETLINK) && !policy_bounds(POLICY_DEVICES)) return true;
    while (next_message(&messages, &header, &content)) {
        if (on_node && !is_allowed_on_node(protocol, header.nlmsg_type)) return false;
        if (on_node || protocol != NETLINK_ROUTE) continue;
        bool names = is_link(header.nlmsg_type) ? names_namespace(content, 0) : names_namespace_of_addresses(header.nlmsg_type, content);
        if (names) return report_refusal(what, sizeof what - 1);
    }
    return true;
}
