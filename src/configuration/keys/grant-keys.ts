// The capabilities that an administrator grants a delegate, with their bounds: `wasm.grants.TYPE`, and `grants.TYPE` of a rule for
// definitions. `*` in a list is a wildcard.

import { readCidr } from "../../net/ip.ts";
import {
  addressPattern,
  chainPattern,
  contextPattern,
  devicePattern,
  interfaceIdPattern,
  linkPattern,
  networkPattern,
  numberRange,
  numbersPattern,
  pluginPattern,
  poolPattern,
  portRange,
  vlanRange,
  vlansPattern,
  portsPattern,
  resultPlacePattern,
  sysctlPattern,
  zonePattern,
} from "../grant-patterns.ts";
import { key, type ValuesOf } from "../table/key.ts";
import type { TextRule } from "../table/kind.ts";
import { absolutePath, boolean, count } from "../table/kinds.ts";
import { absolutePaths, listOf } from "../table/lists.ts";
import { section } from "../table/section.ts";

/** Lease directory of the reference host-local, which is the default. */
export const defaultLeaseDirectory = "/var/lib/cni/networks";

/** Files that a delegate may read if the administrator lists none. */
export const defaultResolverFiles: readonly string[] = ["/etc/resolv.conf"];

/** State directory of the reference tuning plugin, which is used if a grant lists none. */
export const defaultStateDirectory = "/run/cni/tuning";

/** Directory of the records of devices that pods have. */
export const defaultDeviceRecords = "/var/lib/cni/devices";

/** OVSDB's socket on a node, which is used if a grant names none. */
export const defaultOvsSocket = "/run/openvswitch/db.sock";

/** The kernel's maximum for any link. */
const maxVethQueues = 4096;

const linkKeys = {
  bridges: key({
    kind: listOf(linkPattern),
    about: "Bridges of the node that a delegate may create, change and add ports to; * is a wildcard.",
  }),
  parents: key({
    kind: listOf(linkPattern),
    about:
      "Links of the node that may be the parent of a macvlan, an ipvlan or a VLAN; * is a wildcard. Parents are not changed, but a macvlan in passthru mode takes all their frames and shares their MAC.",
  }),
  uplinks: key({
    kind: listOf(linkPattern),
    about: "Links of the node that may become ports of a granted bridge; * is a wildcard.",
  }),
  networks: key({
    kind: networks(networkPattern),
    about:
      "Networks that must contain the addresses (with their whole prefix), neighbours and routes of the node's links. Without this key any address of a granted bridge is allowed, the node gets no routes, and its end of the attachment's veth gets nothing.",
  }),
  podNetworks: key({
    kind: networks(networkPattern),
    about:
      "Networks that must contain the addresses (with their whole prefix) of the pod's links. Without this key a pod may get any address, also one of another network on a granted bridge.",
  }),
  nodeAddresses: key({
    kind: networks(addressPattern),
    about:
      "Addresses, each with its prefix length, that a delegate may add to the node's links or remove. Without this key any address is allowed that networks allows.",
  }),
  replaceAddresses: key({
    kind: boolean,
    about: "Whether a delegate may replace an address of the node by another one (forceAddress); true by default.",
  }),
  podLinks: key({
    kind: listOf(linkPattern),
    about: "Links that a delegate may create in the pod's network namespace besides the attachment's own; * is a wildcard.",
  }),
  devices: key({
    kind: listOf(devicePattern),
    about:
      "Devices of the node that a delegate may move into a pod: names of links, or mac:, pci: or driver: with a value; * is a wildcard. A name with a wildcard never means a link whose other end is in another namespace. None by default.",
  }),
  deviceRecords: key({
    kind: absolutePath,
    about: `Directory of the records of devices that pods have; ${defaultDeviceRecords} by default.`,
  }),
  vfVlans: key({
    kind: listOf(vlansPattern, (text) => (vlanRange(text) === undefined ? `${text} is not ${vlansPattern.wanted}` : undefined)),
    about:
      "VLANs that a delegate may give a granted virtual function (SR-IOV), each a number or a range such as 1000-1099; 0 stands for no VLAN. None by default.",
  }),
  vfTrust: key({
    kind: boolean,
    about:
      "Whether a delegate may trust a granted virtual function, and switch off its spoof check; false by default. A pod with a trusted function may change its MAC and receive frames of others.",
  }),
  selinuxContexts: key({
    kind: listOf(contextPattern),
    about: "SELinux contexts in which a delegate may make a tap in the pod; * is a wildcard. None by default.",
  }),
  forwarding: key({ kind: boolean, about: "Whether a delegate may switch on the node's IP forwarding; false by default." }),
  vethQueues: key({
    kind: count(maxVethQueues),
    about:
      "Maximum number of queues of each end of a veth; the kernel's default is one for each CPU. A veth uses one queue until ethtool -L sets more; the value 1 makes its creation faster.",
  }),
};

const numberRanges = listOf(numbersPattern, (text) =>
  numberRange(text) === undefined ? `${text} is not ${numbersPattern.wanted}` : undefined,
);

const directories = (what: string) =>
  key({
    kind: absolutePaths,
    about: `Directories for ${what}; the first is the default. A trailing / also allows the directories below.`,
  });

const leaseKeys = {
  directories: directories("leases"),
  pools: key({
    kind: listOf(poolPattern),
    about: "AddressPools of the cluster that a network's ipam.pool may name; * is a wildcard. None by default.",
  }),
};

const sysctlKeys = {
  keys: key({
    kind: listOf(sysctlPattern),
    about:
      "Sysctls of the pod's network namespace, as paths such as net/ipv4/conf/IFNAME/rp_filter; IFNAME stands for the attachment's interface, * for anything but /.",
  }),
  allowlist: key({
    kind: absolutePath,
    about:
      "An allow-list of the reference tuning plugin, with one pattern in each line. If the file exists, a key must match one of its patterns too.",
  }),
};

const firewallKeys = {
  masquerade: key({ kind: boolean, about: "Whether the pod's addresses may be masqueraded; false by default." }),
  hostPorts: key({
    kind: listOf(portsPattern, (text) => {
      const [first, last] = portRange(text) ?? [0, 0];
      return first > last ? `the range ${text} ends before it begins` : undefined;
    }),
    about: "The node's ports that may be mapped, each a port or a range such as 30000-32767; none by default.",
  }),
};

const ovsKeys = {
  bridges: key({
    kind: listOf(linkPattern),
    about: "Bridges of Open vSwitch that a delegate may add ports to; * is a wildcard. None by default.",
  }),
  socket: key({
    kind: absolutePath,
    about: `OVSDB's Unix socket; ${defaultOvsSocket} by default. A daemon in a container needs the socket's directory mounted.`,
  }),
  interfaceIds: key({
    kind: listOf(interfaceIdPattern),
    about:
      "Interface IDs (external_ids:iface-id) that a delegate may use besides that of the attachment's external port; * is a wildcard. None by default.",
  }),
  vlans: key({
    kind: listOf(vlansPattern, (text) => (vlanRange(text) === undefined ? `${text} is not ${vlansPattern.wanted}` : undefined)),
    about:
      "VLANs that a delegate may give a port, as tag or trunks, each a number or a range such as 1000-1099; none by default. A port without an interface ID and without VLANs carries all of them, and needs 0-4095.",
  }),
};

const routingKeys = {
  tables: key({
    kind: numberRanges,
    about:
      "Routing tables of the node that rules may look up and whose routes may be read, each a number or a range such as 100-199; none by default. The pod's tables need no grant.",
  }),
  priorities: key({
    kind: numberRanges,
    about:
      "Priorities of the node's policy rules that a delegate may add, list and remove, each a number or a range; none by default.",
  }),
};

/** The chain for rules of administrators that the reference plugin `firewall` names by default. */
export const defaultAdminChain = "CNI-ADMIN";

const filterKeys = {
  bridges: key({
    kind: listOf(linkPattern),
    about: "Bridges of the node to whose pods packets may be dropped (ingressPolicy); * is a wildcard. None by default.",
  }),
  adminChains: key({
    kind: listOf(chainPattern),
    about: `Chains for rules of administrators that a delegate may name; * is a wildcard. ${defaultAdminChain} by default.`,
  }),
  zones: key({
    kind: listOf(zonePattern),
    about:
      "Zones of firewalld whose sources the attachments' addresses may become while firewalld runs; * is a wildcard. The first without one is the default. What a zone accepts, it accepts from the pods, also towards the node. None by default.",
  }),
};

/** Each capability, and `result`, in the order in which messages list them. */
export const grantKeys = {
  log: key({ kind: section({}), about: "Lines for the host's log." }),
  leases: key({ kind: section(leaseKeys), about: "Address reservations." }),
  resolver: key({
    kind: section({ files: key({ kind: absolutePaths, about: "Files in the format of resolv.conf." }) }),
    about: "The node's name resolution settings.",
  }),
  links: key({
    kind: section(linkKeys),
    about: "Links, addresses, routes and neighbours of the attachment. The node's own links only if they are listed.",
  }),
  sysctl: key({ kind: section(sysctlKeys), about: "The listed sysctls under net in the pod's network namespace." }),
  firewall: key({
    kind: section(firewallKeys),
    about: "Masquerading, port mappings and the MAC filter of the attachment, in Plexus' own nftables table.",
  }),
  announce: key({
    kind: section({}),
    about:
      "Gratuitous ARP and neighbour advertisements for the attachment's addresses, and ARP and neighbour probes for other hosts that have them.",
  }),
  delegation: key({
    kind: section({
      plugins: key({
        kind: listOf(pluginPattern),
        about: "Types of the plugins that a delegate may call; * is a wildcard.",
      }),
    }),
    about: "Calls of other plugins, native or delegates, for the same attachment.",
  }),
  state: key({
    kind: section({ directories: directories("state") }),
    about: "One small text for each attachment, kept until the attachment is removed.",
  }),
  ovs: key({ kind: section(ovsKeys), about: "Ports of Open vSwitch for links of the attachment, at the listed bridges." }),
  routing: key({
    kind: section(routingKeys),
    about: "Policy rules and routes of further tables, in the pod. On the node only the listed tables and priorities.",
  }),
  shaping: key({ kind: section({}), about: "Bounds of the attachment's traffic at the node's end of its veth." }),
  filter: key({
    kind: section(filterKeys),
    about: "Acceptance of the attachment's forwarded packets, in the chains of the reference plugin firewall.",
  }),
  dhcp: key({ kind: section({}), about: "A lease of a DHCP server for the attachment's interface." }),
  flows: key({ kind: section({}), about: "Removal of connection tracking entries of the attachment's addresses." }),
  result: key({
    kind: section({
      change: key({
        kind: listOf(resultPlacePattern),
        about:
          "Places such as dns, routes or ips/*/gateway, each with everything within it; * stands for an element of a list. An absent list allows every change.",
      }),
    }),
    about: "No capability, but a bound: where the answer to ADD may differ from prevResult. Any other difference fails the ADD.",
  }),
};

/** The capabilities of one delegate. A component that imports a missing capability is refused when it is loaded. */
export type DelegateGrants = ValuesOf<typeof grantKeys>;

/** The node's links that a delegate may use, by name. The attachment's own links need no grant beyond `links`. */
export type LinkGrant = ValuesOf<typeof linkKeys>;

/** The bridges of Open vSwitch that a delegate may add ports to. Without any, every port is refused. */
export type OvsGrant = ValuesOf<typeof ovsKeys>;

/** The bridges and chains that a delegate may name. */
export type FilterGrant = ValuesOf<typeof filterKeys>;

/** The node's routing tables and priorities of rules that a delegate may use. */
export type RoutingGrant = ValuesOf<typeof routingKeys>;

/** The names of the granted capabilities. */
export function grantedCapabilities(grants: DelegateGrants): string[] {
  return Object.keys(grants).filter((name) => name !== "result");
}

/** The names of all capabilities. */
export const grantNames: readonly string[] = Object.keys(grantKeys).filter((name) => name !== "result");

/** Grants of a delegate that the configuration does not mention: nothing that changes the kernel's state. */
export const defaultGrants: DelegateGrants = {
  log: {},
  leases: { directories: [defaultLeaseDirectory] },
  resolver: { files: defaultResolverFiles },
};

/**
 * A rule's grants with the bounds that a definition always has: `links` may touch no address, neighbour or route of the node that
 * the rule does not list, and replaces no address unless the rule says so.
 */
export function boundGrants(grants: DelegateGrants): DelegateGrants {
  const { links } = grants;
  if (links === undefined) return grants;
  return {
    ...grants,
    links: {
      ...links,
      networks: links.networks ?? [],
      nodeAddresses: links.nodeAddresses ?? [],
      replaceAddresses: links.replaceAddresses ?? false,
    },
  };
}

function networks(rule: TextRule) {
  return listOf(rule, (text) => (readCidr(text) === undefined ? `${text} is not ${rule.wanted}` : undefined));
}
