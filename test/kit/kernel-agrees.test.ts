// The simulated links of a node against the kernel: the same operations succeed or fail in both, and leave the same links, addresses and routes.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LinkTests, openLinkTests } from "../../host/capabilities/links/testing/link-tests.ts";
import type { LinksLink, LinksNeighbour, Route } from "../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { createPodNamespace } from "../lab/namespaces.ts";
import { iproute2, linkType, missing, privateNamespaces } from "../lab/requires.ts";
import { LinkTable } from "../../delegates/sdk/testing/link-table.ts";
import { memoryCall, MemoryLinks } from "../../delegates/sdk/testing/memory-links.ts";
import type { DelegateCall } from "../../delegates/sdk/testing/records.ts";
import { bridge, edges, eth0, eth1, scenarios } from "./link-scenarios.ts";

/** The node's end of the veths that have a stated name. */
const nodeEnd = { place: "host", name: "vethx0" } as const;

const add: DelegateCall = {
  verb: "add",
  request: {
    call: { remainingMs: 15_000, granted: [] },
    network: { cniVersion: "1.1.0", name: "net", config: '{"type":"test"}' },
    attachment: { containerId: "pod-1", ifname: "eth0", netns: "/run/netns/pod-1", args: [] },
  },
};
/** The grant of a simulated node. */
const everything = { bridges: ["*"], parents: ["*"], uplinks: ["*"], podLinks: ["*"], networks: ["0.0.0.0/0", "::/0"] };

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

  test.each([...scenarios, ...edges])("%s", async (_about, applies) => {
    const pod = createPodNamespace("kit");
    try {
      const { capability } = tests.capability({ pod, grant: everything });
      const memory = new MemoryLinks(undefined, new LinkTable({ strict: true }), "pod", memoryCall(add)).functions;
      for (const operations of applies) {
        const inKernel = await capability.apply(operations);
        const inMemory = memory.apply(operations);
        const shown = {
          apply: "err" in inMemory ? inMemory.err.code : 0,
          ...shownState(memory.read([eth0, eth1, bridge, nodeEnd]), memory.routes(eth0), memory.neighbours(eth0)),
        };
        const expected = {
          apply: "err" in inKernel ? inKernel.err.code : 0,
          ...shownState(
            await capability.read([eth0, eth1, bridge, nodeEnd]),
            await capability.routes(eth0),
            await capability.neighbours(eth0),
          ),
        };
        expect(shown).toEqual(expected);
      }
    } finally {
      pod.dispose();
      const left = tests.node.links().filter(({ name }) => name === "lt0" || name === "vethx0");
      // The kernel removes the veths of a namespace a moment after the namespace.
      for (const { name } of left) tests.node.exec(["ip", "link", "delete", name]);
    }
  });
});

type Answer<T> = { readonly ok: readonly T[] } | { readonly err: unknown };

/** The members that a simulation can know: no indexes, no names and MACs that the kernel chose. */
function shownState(links: Answer<LinksLink>, routes: Answer<Route>, neighbours: Answer<LinksNeighbour>): object {
  const known = "ok" in links ? links.ok : [];
  return {
    links: known.map(
      ({ name, kind, mac, mtu, up, promiscuous, master, addresses, alternativeNames, mode, port, parent, txQueueLength }) => ({
        mode,
        port,
        parent,
        txQueueLength,
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
      }),
    ),
    routes: ("ok" in routes ? routes.ok : [])
      .filter(({ dst }) => !dst.startsWith("fe80:") && !dst.startsWith("ff00:"))
      .map(({ dst, gw, scope, priority, table }) => ({ dst, gw, scope: scope ?? 0, priority, table }))
      .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    neighbours: ("ok" in neighbours ? neighbours.ok : []).toSorted((a, b) => (a.address < b.address ? -1 : 1)),
  };
}
