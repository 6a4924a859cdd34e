// What a failing `apply` leaves behind: nothing.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createPodNamespace, type PodNamespace, whyNotPrivate } from "../../test/harness/namespaces.ts";
import { missing } from "../../test/harness/requires.ts";
import type { LinksOperation } from "../sandbox/abi/generated/delegate-0.1.0.ts";
import { type LinkTests, openLinkTests } from "./testing/link-tests.ts";
import { hasTun, snapshot } from "./testing/snapshot.ts";

const eth0 = { place: "pod", name: "eth0" } as const;
const route = (dst: string, gw: string): Extract<LinksOperation, { tag: "add-route" }>["val"] => ({
  link: eth0,
  place: "pod",
  route: { dst, gw },
  onLink: false,
});

/** One of each kind that this kernel can do; each of them works after those before it. */
const operations: readonly LinksOperation[] = [
  { tag: "ensure-bridge", val: { name: "lt0", vlanFiltering: false } },
  { tag: "ensure-address", val: { link: { place: "host", name: "lt0" }, address: "10.78.0.1/24", replace: false } },
  {
    tag: "add-veth",
    val: {
      name: "extra0",
      hostName: "vethlt7",
      master: "lt0",
      port: { hairpin: true, learning: false },
      vlans: [],
      keepDefaultVlan: false,
      up: true,
      mtu: 1400,
    },
  },
  { tag: "add-address", val: { link: { place: "pod", name: "extra0" }, address: "10.78.0.2/24", noDad: false } },
  { tag: "change-port", val: { link: "vethlt7", port: { isolated: true } } },
  { tag: "change-port", val: { link: "vethown", port: { hairpin: true, flood: false } } },
  { tag: "change-link", val: { link: { place: "host", name: "vethown" }, mtu: 1450, master: "", alternativeNames: [] } },
  {
    tag: "change-link",
    val: {
      link: eth0,
      mac: "02:00:00:00:00:99",
      mtu: 1300,
      promiscuous: true,
      allMulticast: true,
      txQueueLength: 77,
      alternativeNames: ["another-name", "one-more"],
    },
  },
  { tag: "add-address", val: { link: eth0, address: "10.9.0.3/24", noDad: false } },
  { tag: "add-address", val: { link: eth0, address: "fd09::3/64", noDad: true } },
  { tag: "delete-address", val: { link: eth0, address: "fd09::2/64", noDad: false } },
  { tag: "add-route", val: route("10.20.0.0/16", "10.9.0.1") },
  { tag: "delete-route", val: route("10.21.0.0/16", "10.9.0.1") },
  { tag: "add-neighbour", val: { link: eth0, neighbour: { address: "10.9.0.50", mac: "02:00:00:00:00:50", proxy: false } } },
  { tag: "delete-neighbour", val: { link: eth0, neighbour: { address: "10.9.0.51", proxy: false } } },
  { tag: "add-neighbour", val: { link: eth0, neighbour: { address: "fd09::50", proxy: true } } },
  { tag: "set-interface", val: { link: eth0, family: "ipv4", name: "arp_notify", value: "1", required: true } },
  { tag: "set-interface", val: { link: eth0, family: "ipv6", name: "accept_dad", value: "0", required: true } },
  { tag: "ensure-address", val: { link: eth0, address: "10.10.0.2/24", replace: true } },
  { tag: "change-link", val: { link: eth0, up: false, alternativeNames: [] } },
  { tag: "change-link", val: { link: eth0, up: true, alternativeNames: [] } },
  { tag: "enable-forwarding", val: "ipv4" },
  { tag: "enable-forwarding", val: "ipv6" },
  { tag: "ensure-bridge", val: { name: "lt1", vlanFiltering: false } },
  { tag: "ensure-address", val: { link: { place: "host", name: "lt1" }, address: "10.79.0.1/24", replace: true } },
  {
    tag: "add-macvlan",
    val: { name: "extra1", parent: { place: "host", name: "lt1" }, mode: "bridge", mtu: 1400, broadcastQueue: 500 },
  },
  { tag: "settle", val: { link: eth0, milliseconds: 5000 } },
  ...(hasTun() ? [{ tag: "add-tap", val: { name: "extra2", multiQueue: false, mac: "02:00:00:00:00:77" } } as const] : []),
  { tag: "delete-link", val: { place: "pod", name: "extra1" } },
];

const grant = { bridges: ["lt0", "lt1"], parents: ["lt1"], podLinks: ["extra*"], forwarding: true };
/** Fails in the pod: nobody reaches this gateway. */
const failing: LinksOperation = { tag: "add-route", val: route("10.99.0.0/16", "203.0.113.1") };

describe.skipIf(missing("undo", whyNotPrivate))("a failing apply", () => {
  let links: LinkTests;
  let pod: PodNamespace;
  beforeEach(async () => {
    links = await openLinkTests();
    pod = createPodNamespace("undo");
    pod.exec(["sysctl", "-qw", "net.ipv6.conf.default.accept_dad=0"]);
    for (const words of [
      "link add lt1 type bridge",
      "address add 10.80.0.1/24 dev lt1",
      "address add fd80::1/64 dev lt1 nodad",
      `link add vethown type veth peer name eth0 netns ${pod.name}`,
      "link set vethown addrgenmode none master lt1 up",
    ])
      links.ip(words);
    for (const words of [
      "link set eth0 up",
      "address add 10.9.0.2/24 dev eth0",
      "address add fd09::2/64 dev eth0 nodad",
      "route add 10.21.0.0/16 via 10.9.0.1 mtu 1200 metric 7",
      "neighbour add 10.9.0.51 lladdr 02:00:00:00:00:51 dev eth0",
    ])
      links.ip(words, pod);
    // What the kernel adds by itself when the link runs, it has added before anything is compared.
    await vi.waitUntil(
      () =>
        /fe80::.* dev eth0[^]*ff00::/u.test(pod.exec(["ip", "-6", "route", "show", "table", "all"]).stdout) &&
        pod.exec(["ip", "-6", "address", "show", "dev", "eth0"]).stdout.includes("fe80::"),
      { timeout: 10_000, interval: 20 },
    );
  });
  afterEach(async () => {
    pod.dispose();
    await links.dispose();
  });

  test("the operations work, so that what follows says something", async () => {
    const before = [snapshot(links.node.path), snapshot(pod.path)];
    const { capability } = links.capability({ pod, grant });
    links.good(await capability.apply(operations));
    expect([snapshot(links.node.path), snapshot(pod.path)]).not.toEqual(before);
  });

  test("is undone whichever operation it fails at: both namespaces are what they were", { timeout: 120_000 }, async () => {
    // The link-local addresses have been looked at by now, or are left out.
    const before = [snapshot(links.node.path), snapshot(pod.path)];
    // A removed link stays removed, which the last test is about.
    for (let count = 0; count < operations.length; count++) {
      const { capability } = links.capability({ pod, grant });
      const outcome = await capability.apply([...operations.slice(0, count), failing]);
      const fault = "err" in outcome ? outcome.err : undefined;
      expect(fault?.msg).toContain(`links: operation ${count} (add-route): adding the route 10.99.0.0/16 via 203.0.113.1`);
      expect(fault?.details ?? "").not.toContain("not undone");
      expect([count, snapshot(links.node.path), snapshot(pod.path)]).toEqual([count, ...before]);
    }
  });
});
