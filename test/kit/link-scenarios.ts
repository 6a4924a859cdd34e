// Operations of `links` that run on the kernel and on the simulated links.

import type { LinksOperation } from "../../host/sandbox/abi/generated/delegate-1.1.0.ts";

/** The attachment's link. */
export const eth0 = { place: "pod", name: "eth0" } as const;
/** A further link of the pod. */
export const eth1 = { place: "pod", name: "eth1" } as const;
/** The node's bridge. */
export const bridge = { place: "host", name: "lt0" } as const;

const ensureBridge: LinksOperation = { tag: "ensure-bridge", val: { name: "lt0", vlanFiltering: false } };
const veth = (
  more: { readonly mac?: string; readonly mtu?: number; readonly master?: string; readonly up?: boolean } = {},
): LinksOperation => ({
  tag: "add-veth",
  val: { name: "eth0", vlans: [], keepDefaultVlan: false, up: true, ...more },
});
const change = (more: {
  readonly up?: boolean;
  readonly mtu?: number;
  readonly mac?: string;
  readonly promiscuous?: boolean;
}): LinksOperation => ({
  tag: "change-link",
  val: { link: eth0, alternativeNames: [], ...more },
});
const address = (text: string): LinksOperation => ({ tag: "add-address", val: { link: eth0, address: text, noDad: true } });
const noAddress = (text: string): LinksOperation => ({ tag: "delete-address", val: { link: eth0, address: text, noDad: true } });
const gatewayAddress = (text: string, replace = false): LinksOperation => ({
  tag: "ensure-address",
  val: { link: bridge, address: text, replace },
});
const route = (
  tag: "add-route" | "delete-route",
  dst: string,
  gw?: string,
  more: { readonly priority?: number; readonly table?: number; readonly mtu?: number } = {},
  link: typeof eth0 | undefined = eth0,
): LinksOperation => ({
  tag,
  val: { ...(link && { link }), place: "pod", route: { dst, ...(gw === undefined ? {} : { gw }), ...more }, onLink: false },
});
/** The route with a preferred source address. */
const sourced = (operation: LinksOperation, source: string): LinksOperation =>
  operation.tag === "add-route" || operation.tag === "delete-route"
    ? { ...operation, val: { ...operation.val, source } }
    : operation;
const neighbour = (tag: "add-neighbour" | "delete-neighbour", text: string, mac?: string): LinksOperation => ({
  tag,
  val: { link: eth0, neighbour: { address: text, ...(mac === undefined ? {} : { mac }), proxy: mac === undefined } },
});
const above: LinksOperation = { tag: "add-macvlan", val: { name: "eth1", parent: eth0, mode: "bridge" } };
const remove = (link: typeof eth0 | typeof bridge): LinksOperation => ({ tag: "delete-link", val: link });

/** Each scenario: the operations of one `apply` after the other. */
export const scenarios: readonly (readonly [about: string, applies: readonly (readonly LinksOperation[])[]])[] = [
  [
    "a veth on a bridge with address and routes",
    [[ensureBridge, veth({ master: "lt0" }), address("10.5.0.2/24"), route("add-route", "0.0.0.0/0", "10.5.0.1")]],
  ],
  ["a second link of the same name", [[veth()], [veth()]]],
  ["a failed operation undoes the earlier ones of its apply", [[veth(), address("10.5.0.2/24"), veth()]]],
  ["a port of a missing bridge", [[veth({ master: "lt0" })]]],
  [
    "MAC and MTU",
    [
      [veth({ mac: "0a:58:0a:05:00:02", mtu: 1400 })],
      [change({ mtu: 1300, mac: "0a:58:0a:05:00:03" })],
      [change({ promiscuous: true })],
    ],
  ],
  ["a bridge that exists stays", [[ensureBridge], [ensureBridge]]],
  ["the same address twice", [[veth(), address("10.5.0.2/24")], [address("10.5.0.2/24")]]],
  ["two addresses of one network", [[veth(), address("10.5.0.2/24"), address("10.5.0.3/24")], [noAddress("10.5.0.2/24")]]],
  ["addresses of both families", [[veth(), address("10.5.0.2/24"), address("fd00:5::2/64")], [noAddress("10.5.0.2/24")]]],
  ["an address that is missing", [[veth()], [noAddress("10.5.0.2/24")]]],
  [
    "the bridge's address stays, is refused, and is replaced",
    [
      [ensureBridge, gatewayAddress("10.5.0.1/24")],
      [gatewayAddress("10.5.0.1/24")],
      [gatewayAddress("10.6.0.1/24")],
      [gatewayAddress("10.6.0.1/24", true)],
    ],
  ],
  [
    "addresses of the bridge of both families",
    [
      [ensureBridge, gatewayAddress("10.5.0.1/24"), gatewayAddress("fd00:5::1/64")],
      [gatewayAddress("fd00:5::9/64")],
      [gatewayAddress("fd00:6::1/64")],
      [gatewayAddress("fe80::1/64")],
      [gatewayAddress("fe80::2/64")],
    ],
  ],
  [
    "a route without a gateway",
    [[veth(), address("10.5.0.2/24"), route("add-route", "10.7.0.0/16")], [route("delete-route", "10.7.0.0/16")]],
  ],
  ["a route's destination with host bits", [[veth(), address("10.5.0.2/24"), route("add-route", "10.7.1.2/16", "10.5.0.1")]]],
  ["a route to a gateway of no network", [[veth(), address("10.5.0.2/24"), route("add-route", "10.7.0.0/16", "10.9.0.1")]]],
  [
    "a route over a link that is down",
    [[veth({ up: false }), address("10.5.0.2/24"), route("add-route", "10.7.0.0/16", "10.5.0.1")]],
  ],
  [
    "a link that goes down loses its routes",
    [
      [veth(), address("10.5.0.2/24"), route("add-route", "10.7.0.0/16", "10.5.0.1")],
      [change({ up: false })],
      [change({ up: true })],
    ],
  ],
  [
    "the last address takes the routes with it",
    [[veth(), address("10.5.0.2/24"), route("add-route", "10.7.0.0/16", "10.5.0.1")], [noAddress("10.5.0.2/24")]],
  ],
  ["a link is removed, and removed again", [[ensureBridge, veth({ master: "lt0" })], [remove(eth0)], [remove(eth0)]]],
  [
    "a removed route needs no equal gateway, and another gateway is another route",
    [
      [veth(), address("10.5.0.2/24"), route("add-route", "10.7.0.0/16", "10.5.0.1")],
      [route("delete-route", "10.7.0.0/16", "10.5.0.9")],
      [route("delete-route", "10.7.0.0/16", undefined, { priority: 5 })],
      [route("delete-route", "10.7.0.0/16")],
      [route("delete-route", "10.7.0.0/16")],
    ],
  ],
  [
    "a second route of one destination, metric and table stands before the first, and a removal takes the one of the lowest metric",
    [
      [veth(), address("10.5.0.2/24"), route("add-route", "10.7.0.0/16", "10.5.0.1", { priority: 9 })],
      [route("add-route", "10.7.0.0/16", "10.5.0.3", { priority: 9 })],
      [route("add-route", "10.7.0.0/16", "10.5.0.4"), route("add-route", "10.7.0.0/16", "10.5.0.5", { table: 40 })],
      [route("delete-route", "10.7.0.0/16")],
      [route("delete-route", "10.7.0.0/16", undefined, { priority: 9 })],
    ],
  ],
  [
    "the same route twice",
    [
      [veth(), address("10.5.0.2/24"), address("fd00:5::2/64")],
      [route("add-route", "10.7.0.0/16", "10.5.0.1"), route("add-route", "fd00:7::/48", "fd00:5::1")],
      [route("add-route", "10.7.0.0/16", "10.5.0.1"), route("add-route", "fd00:7::/48", "fd00:5::1")],
      [
        route("add-route", "10.7.0.0/16", "10.5.0.1", { mtu: 1400 }),
        route("add-route", "fd00:7::/48", "fd00:5::1", { mtu: 1400 }),
      ],
      [route("delete-route", "10.7.0.0/16"), route("delete-route", "fd00:7::/48")],
    ],
  ],
  [
    "routes of IPv6",
    [
      [veth(), address("fd00:5::2/64"), route("add-route", "fd00:7::/48", "fd00:5::1")],
      [route("add-route", "fd00:7::/48", "fd00:5::3")],
      [route("delete-route", "fd00:7::/48", "fd00:5::3")],
      [route("delete-route", "fd00:7::/48")],
    ],
  ],
  [
    "a route is removed whatever MTU and source its removal names",
    [
      [
        veth(),
        address("10.5.0.2/24"),
        address("fd00:5::2/64"),
        sourced(route("add-route", "10.7.0.0/16", "10.5.0.1", { mtu: 1400 }), "10.5.0.2"),
        route("add-route", "fd00:7::/48", "fd00:5::1", { mtu: 1400 }),
      ],
      [sourced(route("delete-route", "10.7.0.0/16", undefined, { mtu: 1300 }), "10.5.0.3")],
      [sourced(route("delete-route", "fd00:7::/48", undefined, { mtu: 1300 }), "fd00:5::3")],
    ],
  ],
  [
    "the route of a network, added and removed",
    [[veth(), address("10.5.0.2/24"), route("add-route", "10.5.0.0/24", "10.5.0.1")], [route("delete-route", "10.5.0.0/24")]],
  ],
  [
    "a route without a link",
    [
      [veth(), address("10.5.0.2/24"), route("add-route", "10.7.0.0/16", "10.5.0.1", {}, undefined)],
      [route("add-route", "10.8.0.0/16", "10.9.0.1", {}, undefined)],
      [route("delete-route", "10.7.0.0/16", "10.5.0.1", {}, undefined)],
    ],
  ],
  [
    "neighbours, and what the pod answers for",
    [
      [veth(), address("10.5.0.2/24"), neighbour("add-neighbour", "10.5.0.9", "0a:58:0a:05:00:09")],
      [neighbour("add-neighbour", "10.5.0.9", "0a:58:0a:05:00:0a")],
      [neighbour("add-neighbour", "10.5.0.9")],
      [neighbour("delete-neighbour", "10.5.0.9", "0a:58:0a:05:00:09")],
      [neighbour("delete-neighbour", "10.5.0.9"), neighbour("delete-neighbour", "10.5.0.9")],
    ],
  ],
  [
    "an address in another spelling",
    [[veth(), address("fd00:5::2/64")], [address("FD00:5:0::2/64")], [noAddress("fd00:5:0:0::2/64")]],
  ],
  ["the links above a link go with it", [[veth(), above], [remove(eth0)]]],
  [
    "an alternative name twice",
    [
      [veth()],
      [{ tag: "change-link", val: { link: eth0, alternativeNames: ["net1"] } }],
      [{ tag: "change-link", val: { link: eth0, alternativeNames: ["net1"] } }],
    ],
  ],
  ["a change of a missing link", [[change({ up: true })]]],
];

const host = (name: string) => ({ place: "host", name }) as const;
const vlan = (link: string, id: number): LinksOperation => ({
  tag: "add-port-vlan",
  val: { link, vlan: { first: id, last: id, pvid: false, untagged: false } },
});
const rt = (tag: "add-route" | "delete-route", val: object): LinksOperation =>
  ({ tag, val: { link: eth0, place: "pod", onLink: false, ...val } }) as LinksOperation;
const vethOn = (more: object): LinksOperation =>
  ({
    tag: "add-veth",
    val: { name: "eth0", vlans: [], keepDefaultVlan: false, up: true, hostName: "vethx0", ...more },
  }) as LinksOperation;
const setI = (name: string, value: string, family: "ipv4" | "ipv6" = "ipv4", required = true): LinksOperation =>
  ({ tag: "set-interface", val: { link: eth0, family, name, value, required } }) as LinksOperation;
const port = (link: string, p: object): LinksOperation => ({ tag: "change-port", val: { link, port: p } }) as LinksOperation;
const lo = { place: "pod", name: "lo" } as const;
/** Edges: values and states that the kernel refuses, and what it drops by itself. */
export const edges: readonly (readonly [about: string, applies: readonly (readonly LinksOperation[])[]])[] = [
  ["mtu 0", [[veth({ mtu: 0 })]]],
  ["mtu 67", [[veth({ mtu: 67 })]]],
  ["mtu 68", [[veth({ mtu: 68 })]]],
  ["mtu 65535", [[veth({ mtu: 65535 })]]],
  ["mtu 65536", [[veth({ mtu: 65536 })]]],
  ["change mtu 0", [[veth()], [change({ mtu: 0 })], [change({ mtu: 67 })], [change({ mtu: 65536 })], [change({ mtu: 65535 })]]],
  [
    "bridge mtu",
    [
      [{ tag: "ensure-bridge", val: { name: "lt0", vlanFiltering: false, mtu: 70000 } }],
      [{ tag: "ensure-bridge", val: { name: "lt0", vlanFiltering: false, mtu: 1400 } }],
      [{ tag: "ensure-bridge", val: { name: "lt0", vlanFiltering: false, mtu: 9000 } }],
    ],
  ],
  ["ipv6 with mtu 1279", [[veth({ mtu: 1279 }), address("fd00:5::2/64")]]],
  ["mtu lowered below 1280 with ipv6", [[veth(), address("fd00:5::2/64")], [change({ mtu: 1000 })]]],
  ["multicast mac", [[veth({ mac: "01:00:5e:00:00:01" })]]],
  ["zero mac", [[veth({ mac: "00:00:00:00:00:00" })]]],
  ["change multicast mac", [[veth()], [change({ mac: "01:00:5e:00:00:01" })], [change({ mac: "00:00:00:00:00:00" })]]],
  ["upper mac", [[veth({ mac: "0A:58:0A:05:00:02" })], [change({ mac: "0A:58:0A:05:00:03" })]]],
  ["hostmac multicast", [[vethOn({ hostMac: "01:00:5e:00:00:01" })]]],
  ["long name", [[{ tag: "add-veth", val: { name: "eth0123456789012", vlans: [], keepDefaultVlan: false, up: true } }]]],
  ["long host name", [[vethOn({ hostName: "veth012345678901" })]]],
  [
    "host name taken",
    [[vethOn({})], [{ ...vethOn({}), val: { ...(vethOn({}).val as object), name: "eth1" } } as LinksOperation]],
  ],
  ["address multicast", [[veth(), address("224.0.0.1/24")]]],
  ["address v6 multicast", [[veth(), address("ff02::5/64")]]],
  ["address 0", [[veth(), address("0.0.0.0/24")]]],
  ["address ::", [[veth(), address("::/64")]]],
  ["address ::1", [[veth(), address("::1/128")]]],
  ["address loopback", [[veth(), address("127.0.0.5/8")]]],
  ["address broadcast", [[veth(), address("255.255.255.255/32")]]],
  ["address /0", [[veth(), address("10.5.0.2/0")]]],
  ["v4-mapped", [[veth(), address("::ffff:10.5.0.2/128")]]],
  ["address net broadcast", [[veth(), address("10.5.0.255/24"), address("10.6.0.0/24")]]],
  ["same address other prefix", [[veth(), address("10.5.0.2/24")], [address("10.5.0.2/16")], [noAddress("10.5.0.2/32")]]],
  ["same v6 address other prefix", [[veth(), address("fd00:5::2/64")], [address("fd00:5::2/48")], [noAddress("fd00:5::2/128")]]],
  [
    "/31 /32",
    [
      [veth(), address("10.5.0.2/31")],
      [address("10.7.0.2/32")],
      [rt("add-route", { route: { dst: "10.9.0.0/16", gw: "10.5.0.3" } })],
      [rt("add-route", { route: { dst: "10.10.0.0/16", gw: "10.7.0.2" } })],
    ],
  ],
  [
    "gateway is own address",
    [
      [veth(), address("10.5.0.2/24")],
      [rt("add-route", { route: { dst: "10.7.0.0/16", gw: "10.5.0.2" } })],
      [rt("add-route", { route: { dst: "10.7.0.0/16", gw: "10.5.0.255" } })],
      [rt("add-route", { route: { dst: "10.7.0.0/16", gw: "10.5.0.0" } })],
    ],
  ],
  [
    "v6 gateway is own address",
    [[veth(), address("fd00:5::2/64")], [rt("add-route", { route: { dst: "fd00:7::/64", gw: "fd00:5::2" } })]],
  ],
  [
    "v6 gateway unreachable",
    [[veth(), address("fd00:5::2/64")], [rt("add-route", { route: { dst: "fd00:7::/64", gw: "fd00:9::1" } })]],
  ],
  ["v6 gateway unreachable, no address", [[veth()], [rt("add-route", { route: { dst: "fd00:7::/64", gw: "fd00:9::1" } })]]],
  [
    "v6 gateway onlink",
    [[veth(), address("fd00:5::2/64")], [rt("add-route", { onLink: true, route: { dst: "fd00:7::/64", gw: "fd00:9::1" } })]],
  ],
  [
    "v6 gateway link local",
    [[veth(), address("fd00:5::2/64")], [rt("add-route", { route: { dst: "fd00:7::/64", gw: "fe80::1" } })]],
  ],
  [
    "v6 gateway multicast",
    [[veth(), address("fd00:5::2/64")], [rt("add-route", { route: { dst: "fd00:7::/64", gw: "ff02::1" } })]],
  ],
  [
    "gw over route",
    [
      [veth(), address("10.5.0.2/32")],
      [rt("add-route", { route: { dst: "169.254.1.1/32" } })],
      [rt("add-route", { route: { dst: "0.0.0.0/0", gw: "169.254.1.1" } })],
    ],
  ],
  [
    "gw over route in one apply",
    [
      [
        veth(),
        address("10.5.0.2/32"),
        rt("add-route", { route: { dst: "169.254.1.1/32", scope: 253 } }),
        rt("add-route", { route: { dst: "0.0.0.0/0", gw: "169.254.1.1" } }),
      ],
    ],
  ],
  [
    "gw over gatewayed route",
    [
      [veth(), address("10.5.0.2/24")],
      [rt("add-route", { route: { dst: "10.8.0.0/16", gw: "10.5.0.1" } })],
      [rt("add-route", { route: { dst: "10.9.0.0/16", gw: "10.8.0.1" } })],
    ],
  ],
  [
    "v6 gw over route",
    [
      [veth(), address("fd00:5::2/128")],
      [rt("add-route", { route: { dst: "fd00:6::1/128" } })],
      [rt("add-route", { route: { dst: "::/0", gw: "fd00:6::1" } })],
    ],
  ],
  [
    "onlink",
    [[veth(), address("10.5.0.2/32"), rt("add-route", { onLink: true, route: { dst: "0.0.0.0/0", gw: "169.254.1.1" } })]],
  ],
  ["onlink no address", [[veth(), rt("add-route", { onLink: true, route: { dst: "0.0.0.0/0", gw: "169.254.1.1" } })]]],
  ["v4 via v6", [[veth(), address("fd00:5::2/64"), rt("add-route", { route: { dst: "10.7.0.0/16", gw: "fd00:5::1" } })]]],
  ["route multicast dst", [[veth(), address("10.5.0.2/24"), rt("add-route", { route: { dst: "224.0.0.0/4" } })]]],
  ["route v6 multicast dst", [[veth(), address("fd00:5::2/64"), rt("add-route", { route: { dst: "ff00::/8" } })]]],
  ["route no address", [[veth(), rt("add-route", { route: { dst: "10.7.0.0/16" } })]]],
  ["route gw no address", [[veth(), rt("add-route", { route: { dst: "10.7.0.0/16", gw: "10.5.0.1" } })]]],
  [
    "route source not own",
    [[veth(), address("10.5.0.2/24"), rt("add-route", { source: "10.5.0.9", route: { dst: "10.7.0.0/16", gw: "10.5.0.1" } })]],
  ],
  [
    "v6 route source not own",
    [[veth(), address("fd00:5::2/64"), rt("add-route", { source: "fd00:5::9", route: { dst: "fd00:7::/64", gw: "fd00:5::1" } })]],
  ],
  ["route scope host", [[veth(), address("10.5.0.2/24"), rt("add-route", { route: { dst: "10.7.0.0/16", scope: 254 } })]]],
  [
    "route scope link with gw",
    [[veth(), address("10.5.0.2/24"), rt("add-route", { route: { dst: "10.7.0.0/16", gw: "10.5.0.1", scope: 253 } })]],
  ],
  ["route scope 255", [[veth(), address("10.5.0.2/24"), rt("add-route", { route: { dst: "10.7.0.0/16", scope: 255 } })]]],
  [
    "route scope 200",
    [[veth(), address("10.5.0.2/24"), rt("add-route", { route: { dst: "10.7.0.0/16", gw: "10.5.0.1", scope: 200 } })]],
  ],
  [
    "route mtu",
    [
      [veth(), address("10.5.0.2/24"), rt("add-route", { route: { dst: "10.7.0.0/16", gw: "10.5.0.1", mtu: 0 } })],
      [rt("add-route", { route: { dst: "10.8.0.0/16", gw: "10.5.0.1", mtu: 100000 } })],
      [rt("add-route", { route: { dst: "10.9.0.0/16", gw: "10.5.0.1", advmss: 100000 } })],
      [rt("add-route", { route: { dst: "10.10.0.0/16", gw: "10.5.0.1", priority: 4294967295, table: 4294967295 } })],
    ],
  ],
  [
    "route table 0, 255",
    [
      [veth(), address("10.5.0.2/24"), rt("add-route", { route: { dst: "10.7.0.0/16", gw: "10.5.0.1", table: 0 } })],
      [rt("add-route", { route: { dst: "10.8.0.0/16", gw: "10.5.0.1", table: 255 } })],
      [rt("add-route", { route: { dst: "10.9.0.0/16", gw: "10.5.0.1", table: 253 } })],
    ],
  ],
  [
    "v6 default",
    [
      [veth(), address("fd00:5::2/64"), rt("add-route", { route: { dst: "::/0", gw: "fd00:5::1" } })],
      [rt("delete-route", { route: { dst: "::/0" } })],
    ],
  ],
  [
    "v6 link down loses addresses",
    [
      [veth(), address("10.5.0.2/24"), address("fd00:5::2/64"), rt("add-route", { route: { dst: "::/0", gw: "fd00:5::1" } })],
      [change({ up: false })],
      [change({ up: true })],
    ],
  ],
  [
    "host end down",
    [
      [vethOn({}), address("10.5.0.2/24")],
      [{ tag: "change-link", val: { link: host("vethx0"), up: false, alternativeNames: [] } }],
      [rt("add-route", { route: { dst: "10.7.0.0/16", gw: "10.5.0.1" } })],
    ],
  ],
  [
    "secondary address removed first",
    [[veth(), address("10.5.0.2/24"), address("10.5.0.3/24"), address("10.5.0.4/25")], [noAddress("10.5.0.2/24")]],
  ],
  [
    "address removal drops routes with its source",
    [
      [
        veth(),
        address("10.5.0.2/24"),
        address("10.6.0.2/24"),
        rt("add-route", { source: "10.6.0.2", route: { dst: "10.7.0.0/16", gw: "10.5.0.1" } }),
      ],
      [noAddress("10.6.0.2/24")],
    ],
  ],
  [
    "address removal keeps routes via its network",
    [
      [
        veth(),
        address("10.5.0.2/24"),
        address("10.6.0.2/24"),
        rt("add-route", { route: { dst: "10.7.0.0/16", gw: "10.6.0.1" } }),
      ],
      [noAddress("10.6.0.2/24")],
    ],
  ],
  [
    "v6 address removal",
    [
      [
        veth(),
        address("fd00:5::2/64"),
        address("fd00:6::2/64"),
        rt("add-route", { route: { dst: "fd00:7::/64", gw: "fd00:6::1" } }),
      ],
      [noAddress("fd00:6::2/64")],
    ],
  ],
  [
    "v6 last address removal",
    [
      [veth(), address("fd00:5::2/64"), rt("add-route", { route: { dst: "fd00:7::/64", gw: "fd00:5::1" } })],
      [noAddress("fd00:5::2/64")],
    ],
  ],
  ["v6 two addresses of one network", [[veth(), address("fd00:5::2/64"), address("fd00:5::3/64")], [noAddress("fd00:5::2/64")]]],
  [
    "bridge port leaves",
    [
      [ensureBridge, vethOn({ master: "lt0" })],
      [{ tag: "change-link", val: { link: host("vethx0"), master: "", alternativeNames: [] } }],
      [port("vethx0", { hairpin: true })],
      [{ tag: "change-link", val: { link: host("vethx0"), master: "", alternativeNames: [] } }],
      [{ tag: "change-link", val: { link: host("vethx0"), master: "lt0", alternativeNames: [] } }],
      [port("vethx0", { hairpin: true, isolated: true, learning: false, flood: false })],
    ],
  ],
  ["change-port of no port", [[ensureBridge, vethOn({})], [port("vethx0", { hairpin: true })], [port("vethx0", {})]]],
  [
    "master that is no bridge",
    [
      [vethOn({})],
      [{ tag: "change-link", val: { link: eth0, master: "lo", alternativeNames: [] } }],
      [{ tag: "change-link", val: { link: eth0, master: "eth0", alternativeNames: [] } }],
    ],
  ],
  ["vlan of no port", [[vethOn({})], [vlan("vethx0", 5)]]],
  ["gateway of vlan without bridge", [[{ tag: "ensure-vlan-gateway", val: { bridge: "lt0", id: 5, keepDefaultVlan: false } }]]],
  ["port settings at creation", [[ensureBridge, vethOn({ master: "lt0", port: { hairpin: true, isolated: true } })]]],
  ["port settings without master", [[vethOn({ port: { hairpin: true } })]]],
  ["macvlan on lo", [[{ tag: "add-macvlan", val: { name: "eth1", parent: lo, mode: "bridge" } }]]],
  [
    "macvlan on a macvlan",
    [[veth(), above], [{ tag: "add-macvlan", val: { name: "eth2", parent: eth1, mode: "bridge" } } as LinksOperation]],
  ],
  [
    "macvlan mtu too large",
    [
      [veth()],
      [{ tag: "add-macvlan", val: { name: "eth1", parent: eth0, mode: "bridge", mtu: 1501 } }],
      [{ tag: "add-macvlan", val: { name: "eth1", parent: eth0, mode: "bridge", mtu: 1400 } }],
    ],
  ],
  ["macvlan follows parent's mtu", [[veth(), above], [change({ mtu: 1300 })]]],
  [
    "macvlan passthru beside bridge",
    [[veth(), above], [{ tag: "add-macvlan", val: { name: "eth2", parent: eth0, mode: "passthru" } }]],
  ],
  [
    "macvlan passthru twice",
    [
      [veth(), { tag: "add-macvlan", val: { name: "eth1", parent: eth0, mode: "passthru" } }],
      [{ tag: "add-macvlan", val: { name: "eth2", parent: eth0, mode: "bridge" } }],
    ],
  ],
  [
    "macvlan passthru with mac",
    [
      [
        veth({ mac: "0a:58:0a:05:00:02" }),
        { tag: "add-macvlan", val: { name: "eth1", parent: eth0, mode: "passthru", mac: "0a:58:0a:05:00:03" } },
      ],
    ],
  ],
  [
    "macvlan with parent's mac",
    [
      [
        veth({ mac: "0a:58:0a:05:00:02" }),
        { tag: "add-macvlan", val: { name: "eth1", parent: eth0, mode: "bridge", mac: "0a:58:0a:05:00:02" } },
      ],
      [{ tag: "change-link", val: { link: eth1, up: true, alternativeNames: [] } }],
    ],
  ],
  [
    "macvlan up while parent down",
    [[veth({ up: false }), above], [{ tag: "change-link", val: { link: eth1, up: true, alternativeNames: [] } }]],
  ],
  [
    "macvlan on bridge port",
    [
      [ensureBridge, vethOn({ master: "lt0" })],
      [{ tag: "add-macvlan", val: { name: "eth1", parent: host("vethx0"), mode: "bridge" } }],
    ],
  ],
  ["macvlan of missing parent", [[{ tag: "add-macvlan", val: { name: "eth1", parent: eth0, mode: "bridge" } }]]],
  [
    "macvlan of host bridge",
    [
      [ensureBridge, { tag: "add-macvlan", val: { name: "eth1", parent: bridge, mode: "bridge" } }],
      [{ tag: "delete-link", val: eth1 }],
    ],
  ],
  [
    "set-interface",
    [
      [veth(), setI("arp_notify", "1")],
      [setI("rp_filter", "3")],
      [setI("nonsense", "1")],
      [setI("accept_ra", "2", "ipv6")],
      [setI("arp_ignore", "-1")],
      [setI("disable_ipv6", "1", "ipv6")],
      [address("fd00:5::2/64")],
    ],
  ],
  [
    "set disable_ipv6 with addresses",
    [
      [veth(), address("fd00:5::2/64"), rt("add-route", { route: { dst: "fd00:7::/64", gw: "fd00:5::1" } })],
      [setI("disable_ipv6", "1", "ipv6")],
      [setI("disable_ipv6", "0", "ipv6")],
    ],
  ],
  [
    "neighbours",
    [
      [veth(), address("10.5.0.2/24"), address("fd00:5::2/64")],
      [neighbour("add-neighbour", "fd00:5::9", "0a:58:0a:05:00:09")],
      [neighbour("add-neighbour", "fd00:5:0::9", "0a:58:0a:05:00:09")],
      [neighbour("add-neighbour", "FD00:5::A", "0A:58:0A:05:00:09")],
      [neighbour("add-neighbour", "fd00:5::b")],
      [neighbour("add-neighbour", "10.99.0.1", "0a:58:0a:05:00:09")],
      [neighbour("add-neighbour", "224.0.0.1", "0a:58:0a:05:00:09")],
      [neighbour("delete-neighbour", "10.5.0.77", "0a:58:0a:05:00:09")],
    ],
  ],
  [
    "neighbour of a link that goes down",
    [[veth(), address("10.5.0.2/24"), neighbour("add-neighbour", "10.5.0.9", "0a:58:0a:05:00:09")], [change({ up: false })]],
  ],
  [
    "neighbour without mac",
    [
      [
        veth(),
        address("10.5.0.2/24"),
        { tag: "add-neighbour", val: { link: eth0, neighbour: { address: "10.5.0.9", proxy: false } } },
      ],
    ],
  ],
  [
    "alternative name taken",
    [
      [veth()],
      [{ tag: "change-link", val: { link: eth0, alternativeNames: ["eth0"] } }],
      [{ tag: "change-link", val: { link: eth0, alternativeNames: ["lo"] } }],
      [{ tag: "change-link", val: { link: eth0, alternativeNames: ["a", "a"] } }],
    ],
  ],
  [
    "new link with alternative name of another",
    [
      [veth(), { tag: "change-link", val: { link: eth0, alternativeNames: ["eth1"] } }],
      [{ tag: "add-macvlan", val: { name: "eth1", parent: eth0, mode: "bridge" } }],
    ],
  ],
  [
    "tx queue length",
    [
      [veth()],
      [{ tag: "change-link", val: { link: eth0, txQueueLength: 0, alternativeNames: [] } }],
      [{ tag: "change-link", val: { link: eth0, txQueueLength: 4294967295, alternativeNames: [] } }],
    ],
  ],
  [
    "ensure-address of pod link",
    [
      [veth(), { tag: "ensure-address", val: { link: eth0, address: "10.5.0.2/24", replace: false } }],
      [{ tag: "ensure-address", val: { link: eth0, address: "10.5.0.2/16", replace: false } }],
      [{ tag: "ensure-address", val: { link: eth0, address: "10.5.0.2/16", replace: true } }],
      [{ tag: "ensure-address", val: { link: eth0, address: "10.5.0.3/16", replace: true } }],
    ],
  ],
  ["same link twice in one apply", [[veth()], [remove(eth0), veth(), remove(eth0)]]],
  ["delete in one apply with remake", [[vethOn({})], [remove(eth0), vethOn({})]]],
  ["use after removal", [[veth()], [remove(eth0), address("10.5.0.2/24")]]],
  [
    "routes without link",
    [
      [veth(), address("fd00:5::2/64")],
      [rt("add-route", { link: undefined, route: { dst: "fd00:7::/64", gw: "fd00:5::1" } })],
      [rt("add-route", { link: undefined, route: { dst: "fd00:8::/64", gw: "fd00:9::1" } })],
      [rt("add-route", { link: undefined, route: { dst: "::/0", gw: "fd00:5::7" } })],
      [rt("add-route", { link: undefined, route: { dst: "fd00:9::/64", gw: "fd00:ffff::1" } })],
    ],
  ],
  [
    "route without link over default",
    [
      [veth(), address("10.5.0.2/24"), rt("add-route", { route: { dst: "0.0.0.0/0", gw: "10.5.0.1" } })],
      [rt("add-route", { link: undefined, route: { dst: "10.8.0.0/16", gw: "10.99.0.1" } })],
    ],
  ],
  [
    "delete route with scope",
    [
      [veth(), address("10.5.0.2/24"), rt("add-route", { route: { dst: "10.7.0.0/16" } })],
      [rt("delete-route", { route: { dst: "10.7.0.0/16", scope: 0 } })],
      [rt("delete-route", { route: { dst: "10.7.0.0/16", scope: 253 } })],
    ],
  ],
  [
    "delete route in missing table",
    [[veth(), address("10.5.0.2/24")], [rt("delete-route", { route: { dst: "10.7.0.0/16", table: 77 } })]],
  ],
  [
    "route over missing link",
    [
      [rt("delete-route", { route: { dst: "10.7.0.0/16" } })],
      [rt("add-route", { route: { dst: "10.7.0.0/16" } })],
      [noAddress("10.5.0.2/24")],
      [neighbour("delete-neighbour", "10.5.0.9", "0a:58:0a:05:00:09")],
    ],
  ],
  [
    "host bridge addresses",
    [
      [ensureBridge],
      [{ tag: "add-address", val: { link: bridge, address: "10.5.0.1/24", noDad: true } }],
      [{ tag: "add-address", val: { link: bridge, address: "10.5.0.1/24", noDad: true } }],
      [{ tag: "delete-address", val: { link: bridge, address: "10.5.0.1/24", noDad: true } }],
      [{ tag: "delete-address", val: { link: bridge, address: "10.5.0.1/24", noDad: true } }],
    ],
  ],
  [
    "gateways at the ends of a network",
    [
      [veth(), address("10.5.0.2/24")],
      [rt("add-route", { route: { dst: "10.7.0.0/16", gw: "10.5.0.0" } })],
      [rt("add-route", { onLink: true, route: { dst: "10.8.0.0/16", gw: "10.5.0.255" } })],
      [rt("add-route", { onLink: true, route: { dst: "10.9.0.0/16", gw: "224.0.0.1" } })],
    ],
  ],
  [
    "ensure bridge of veth name",
    [[vethOn({ hostName: "vethx0" })], [{ tag: "ensure-bridge", val: { name: "vethx0", vlanFiltering: false } }]],
  ],
];
