// The simulated links of a node against the kernel: the same operations succeed or fail in both, and leave the same links, addresses and routes.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LinkTests, openLinkTests } from "../../host/capabilities/links/testing/link-tests.ts";
import type { LinksLink, LinksNeighbour, LinksOperation, Route } from "../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { createPodNamespace } from "../lab/namespaces.ts";
import { iproute2, linkType, missing, privateNamespaces } from "../lab/requires.ts";
import { LinkTable } from "../../delegates/sdk/testing/link-table.ts";
import { MemoryLinks } from "../../delegates/sdk/testing/memory-links.ts";

const eth0 = { place: "pod", name: "eth0" } as const;
const eth1 = { place: "pod", name: "eth1" } as const;
const bridge = { place: "host", name: "lt0" } as const;

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
const scenarios: readonly (readonly [about: string, applies: readonly (readonly LinksOperation[])[]])[] = [
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

const skip = missing(
  "the kernel against the simulated links",
  privateNamespaces,
  iproute2,
  linkType("bridge"),
  linkType("veth"),
  linkType("macvlan"),
);
describe.skipIf(skip)("X-7: the simulated links agree with the kernel", () => {
  let tests: LinkTests;
  beforeAll(async () => {
    tests = await openLinkTests();
  });
  afterAll(() => tests.dispose());

  test.each(scenarios)("%s", async (_about, applies) => {
    const pod = createPodNamespace("kit");
    try {
      const { capability } = tests.capability({ pod, grant: { bridges: ["lt0"], podLinks: ["eth0", "eth1"] } });
      const memory = new MemoryLinks(undefined, new LinkTable({ strict: true })).functions;
      for (const operations of applies) {
        const inKernel = await capability.apply(operations);
        const inMemory = memory.apply(operations);
        const shown = {
          apply: "err" in inMemory ? "fails" : "succeeds",
          ...shownState(memory.read([eth0, eth1, bridge]), memory.routes(eth0), memory.neighbours(eth0)),
        };
        const expected = {
          apply: "err" in inKernel ? "fails" : "succeeds",
          ...shownState(
            await capability.read([eth0, eth1, bridge]),
            await capability.routes(eth0),
            await capability.neighbours(eth0),
          ),
        };
        expect(shown).toEqual(expected);
      }
    } finally {
      pod.dispose();
      const left = tests.node.links().filter(({ name }) => name === "lt0");
      for (const { name } of left) tests.ip(`link delete ${name}`);
    }
  });
});

type Answer<T> = { readonly ok: readonly T[] } | { readonly err: unknown };

/** The members that a simulation can know: no indexes, no names and MACs that the kernel chose. */
function shownState(links: Answer<LinksLink>, routes: Answer<Route>, neighbours: Answer<LinksNeighbour>): object {
  const known = "ok" in links ? links.ok : [];
  return {
    links: known.map(({ name, kind, mac, mtu, up, promiscuous, master, addresses, alternativeNames }) => ({
      alternativeNames,
      name,
      kind,
      mtu,
      up,
      promiscuous,
      master,
      mac: mac?.startsWith("0a:58:0a:05:") === true ? mac : undefined,
      addresses: addresses
        .map((each) => each.address)
        .filter((each) => !each.startsWith("fe80:"))
        .toSorted(),
    })),
    routes: ("ok" in routes ? routes.ok : [])
      .filter(({ dst }) => !dst.startsWith("fe80:") && !dst.startsWith("ff00:"))
      .map(({ dst, gw, scope, priority, table }) => ({ dst, gw, scope: scope ?? 0, priority, table }))
      .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    neighbours: "ok" in neighbours ? neighbours.ok : [],
  };
}
