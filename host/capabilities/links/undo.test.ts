// What a failing `apply` leaves behind: nothing.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createPodNamespace, type PodNamespace, whyNotPrivate } from "../../test/harness/namespaces.ts";
import { missing } from "../../test/harness/requires.ts";
import type { LinksOperation } from "../sandbox/abi/generated/delegate-0.1.0.ts";
import { type LinkTests, openLinkTests } from "./testing/link-tests.ts";
import { messagesOf } from "./testing/sent-messages.ts";
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

/** What hangs on a carrier (local routes, whether one is linkdown) the kernel does a moment later, and later on a busy machine. */
async function settlesTo(look: () => unknown, wanted: unknown): Promise<void> {
  await vi.waitFor(() => expect(look()).toEqual(wanted), { timeout: 10_000, interval: 50 });
}

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
      "link set vethown addrgenmode none",
      "link set vethown master lt1 up",
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
      await settlesTo(() => [count, snapshot(links.node.path), snapshot(pod.path)], [count, ...before]);
    }
  });

  /** Loses the kernel's answer to the message that makes a link, which is done or not. */
  function losing(done: boolean): NonNullable<Parameters<LinkTests["capability"]>[0]["instead"]> {
    return (effect) => {
      const makes = messagesOf({ path: effect.path, types: [], effect }).some(({ creates }) => creates);
      if (!makes) return undefined;
      const lost = { errno: 105, sent: true, reply: new Uint8Array(0) };
      return done ? links.hands.netlink(effect).then(() => lost) : Promise.resolve(lost);
    };
  }
  const veth = { name: "extra0", vlans: [], keepDefaultVlan: false, up: true };

  test("whose answer was lost looks for what it made, and takes it away", async () => {
    const before = [snapshot(links.node.path), snapshot(pod.path)];
    const { capability } = links.capability({ pod, grant, instead: losing(true) });
    for (const operation of [
      { tag: "add-veth", val: { ...veth, master: "lt1" } },
      { tag: "ensure-bridge", val: { name: "lt0", vlanFiltering: false } },
      { tag: "add-macvlan", val: { name: "extra1", parent: { place: "host", name: "lt1" }, mode: "bridge" } },
    ] satisfies LinksOperation[]) {
      const outcome = await capability.apply([operation]);
      expect("err" in outcome ? outcome.err.msg : "").toMatch(/answer did not come whole, so whether it was done is not known$/u);
      expect([operation.tag, snapshot(links.node.path), snapshot(pod.path)]).toEqual([operation.tag, ...before]);
    }
  });

  test("whose answer was lost leaves a link of that name that somebody else made", async () => {
    links.ip("link add veththeirs type veth peer name theirs");
    pod.exec(["ip", "link", "add", "extra1", "type", "bridge"]);
    const before = [snapshot(links.node.path), snapshot(pod.path)];
    const { capability } = links.capability({ pod, grant, instead: losing(false) });
    for (const operation of [
      { tag: "add-veth", val: { ...veth, hostName: "veththeirs" } },
      { tag: "add-macvlan", val: { name: "extra1", parent: { place: "host", name: "lt1" }, mode: "bridge" } },
    ] satisfies LinksOperation[]) {
      expect(await capability.apply([operation])).toMatchObject({ err: {} });
      await settlesTo(() => [snapshot(links.node.path), snapshot(pod.path)], before);
    }
  });

  test("says what it could not undo: a link that it removed stays so", async () => {
    const { capability } = links.capability({ pod, grant });
    const outcome = await capability.apply([
      { tag: "delete-link", val: eth0 },
      { ...failing, val: { ...failing.val, link: undefined } },
    ]);
    const { details = "" } = "err" in outcome ? outcome.err : {};
    expect(details).toMatch(/^not undone: removing link "eth0" of the pod: a removed link can't be made again$/mu);
  });

  test("names the operation, the link, and the kernel's own words", async () => {
    const { capability } = links.capability({ pod, grant });
    const faultOf = async (...asked: LinksOperation[]): Promise<string> => {
      const outcome = await capability.apply(asked);
      return "err" in outcome ? outcome.err.msg : "";
    };
    const first: LinksOperation = { tag: "ensure-bridge", val: { name: "lt0", vlanFiltering: false } };
    expect(await faultOf(first, { tag: "add-address", val: { link: eth0, address: "10.9.0.2/24", noDad: false } })).toBe(
      'links: operation 1 (add-address): adding 10.9.0.2/24 on link "eth0" of the pod: EEXIST, file already exists: ipv4: Address already assigned',
    );
    expect(await faultOf(failing)).toBe(
      'links: operation 0 (add-route): adding the route 10.99.0.0/16 via 203.0.113.1 over link "eth0" of the pod: ENETUNREACH, network is unreachable: Nexthop has invalid gateway',
    );
    expect(await faultOf({ tag: "add-veth", val: { ...veth, name: "eth0" } })).toMatch(
      /^links: operation 0 \(add-veth\): making link "veth[0-9a-f]{8}" of the node: EEXIST, file already exists/u,
    );
    expect(
      await faultOf({
        tag: "ensure-address",
        val: { link: { place: "host", name: "lt1" }, address: "10.81.0.1/24", replace: false },
      }),
    ).toBe('links: operation 0 (ensure-address): link "lt1" of the node has 10.80.0.1/24, which 10.81.0.1/24 can\'t be beside');
    expect(
      await faultOf({ tag: "change-link", val: { link: { place: "pod", name: "extra9" }, up: true, alternativeNames: [] } }),
    ).toBe('links: operation 0 (change-link): there is no link "extra9" of the pod');
  });
});
