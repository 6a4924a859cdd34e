// A failing `apply` leaves nothing behind.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createPodNamespace, type PodNamespace, missingPrivateNamespaces } from "../../../lab/namespaces.ts";
import { missing, tunDevice } from "../../../lab/requires.ts";
import type { LinksOperation } from "../../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { type LinkTests, openLinkTests } from "../../../../host/capabilities/links/testing/link-tests.ts";
import { messagesOf } from "../../../../host/capabilities/links/testing/sent-messages.ts";
import { snapshot } from "../../../../host/capabilities/links/testing/snapshot.ts";

const eth0 = { place: "pod", name: "eth0" } as const;
const route = (dst: string, gw: string): Extract<LinksOperation, { tag: "add-route" }>["val"] => ({
  link: eth0,
  place: "pod",
  route: { dst, gw },
  onLink: false,
});

/** One operation of each kind that every kernel supports. Each works after those before it. */
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
  { tag: "settle", val: { link: eth0, milliseconds: 30_000 } },
  { tag: "delete-link", val: { place: "pod", name: "extra1" } },
];

/** Waits: the kernel makes changes that depend on the carrier (local routes, the flag linkdown) with a delay. */
async function settlesTo(look: () => unknown, wanted: unknown): Promise<void> {
  await vi.waitFor(() => expect(look()).toEqual(wanted), { timeout: 120_000, interval: 50 });
}

/**
 * Whether the kernel has finished what it adds to eth0 by itself: a link-local address, the multicast route, and the address's
 * local route. The kernel adds the local route when duplicate address detection ends, even where detection is off.
 */
function hasLinkLocal(pod: PodNamespace): boolean {
  const routes = pod.exec(["ip", "-6", "route", "show", "table", "all"]).stdout;
  const addresses = pod.exec(["ip", "-6", "address", "show", "dev", "eth0"]).stdout;
  return (
    /^local fe80::\S+ dev eth0 /mu.test(routes) &&
    /ff00::\/8 dev eth0 /u.test(routes) &&
    addresses.includes("inet6 fe80::") &&
    !addresses.includes("tentative")
  );
}

const grant = { bridges: ["lt0", "lt1"], parents: ["lt1"], podLinks: ["extra*"], forwarding: true };
/** Fails in the pod: the gateway is not reachable. */
const failing: LinksOperation = { tag: "add-route", val: route("10.99.0.0/16", "203.0.113.1") };

describe.skipIf(missing("undo", missingPrivateNamespaces))("a failing apply", () => {
  let links: LinkTests;
  let pod: PodNamespace;
  beforeEach(async () => {
    links = await openLinkTests();
    pod = createPodNamespace("undo");
    pod.exec(["sh", "-c", "echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad"]);
    for (const args of [
      "link add lt1 type bridge",
      "address add 10.80.0.1/24 dev lt1",
      "address add fd80::1/64 dev lt1 nodad",
      `link add vethown type veth peer name eth0 netns ${pod.name}`,
      "link set vethown addrgenmode none",
      "link set vethown master lt1 up",
    ])
      links.ip(args);
    for (const args of [
      "link set eth0 up",
      "address add 10.9.0.2/24 dev eth0",
      "address add fd09::2/64 dev eth0 nodad",
      "route add 10.21.0.0/16 via 10.9.0.1 mtu 1200 metric 7",
      "neighbour add 10.9.0.51 lladdr 02:00:00:00:00:51 dev eth0",
    ])
      links.ip(args, pod);
    await vi.waitUntil(() => hasLinkLocal(pod), { timeout: 120_000, interval: 20 });
  });
  afterEach(async () => {
    pod.dispose();
    await links.dispose();
  });

  test("all operations succeed, so the following tests are meaningful", async () => {
    const before = [snapshot(links.node.path), snapshot(pod.path)];
    const { capability } = links.capability({ pod, grant });
    links.valueOf(await capability.apply(operations));
    expect([snapshot(links.node.path), snapshot(pod.path)]).not.toEqual(before);
  });

  test("is undone at whichever operation it fails: both namespaces are as before", async () => {
    const before = [snapshot(links.node.path), snapshot(pod.path)];
    // Not after delete-link: a removed link cannot be restored.
    for (let count = 0; count < operations.length; count++) {
      const { capability } = links.capability({ pod, grant });
      const outcome = await capability.apply([...operations.slice(0, count), failing]);
      const fault = "err" in outcome ? outcome.err : undefined;
      expect(fault?.msg).toContain(`links: operation ${count} (add-route): adding the route 10.99.0.0/16 via 203.0.113.1`);
      expect(fault?.details ?? "").not.toContain("not undone");
      await settlesTo(() => [count, snapshot(links.node.path), snapshot(pod.path)], [count, ...before]);
    }
  });

  test.skipIf(missing("undo of a TAP link", tunDevice))("removes a TAP link, also after all other operations", async () => {
    const before = [snapshot(links.node.path), snapshot(pod.path)];
    const tap: LinksOperation = { tag: "add-tap", val: { name: "extra2", multiQueue: false, mac: "02:00:00:00:00:77" } };
    for (const earlier of [[], operations.slice(0, -1)]) {
      const { capability } = links.capability({ pod, grant });
      const outcome = await capability.apply([...earlier, tap, failing]);
      const fault = "err" in outcome ? outcome.err : undefined;
      expect(fault?.msg).toContain(`links: operation ${earlier.length + 1} (add-route)`);
      expect(fault?.details ?? "").not.toContain("not undone");
      await settlesTo(() => [snapshot(links.node.path), snapshot(pod.path)], before);
    }
    const { capability } = links.capability({ pod, grant });
    links.valueOf(await capability.apply([...operations.slice(0, -1), tap, ...operations.slice(-1)]));
    expect(pod.links().map(({ name }) => name)).toContain("extra2");
  });

  /** Loses the kernel's answer to the message that makes a link. `isMade`: whether the kernel received the message. */
  function losingAnswer(isMade: boolean): NonNullable<Parameters<LinkTests["capability"]>[0]["intercept"]> {
    return (effect) => {
      const makes = messagesOf({ path: effect.path, types: [], effect }).some(({ creates }) => creates);
      if (!makes) return undefined;
      const lost = { errno: 105, sent: true, reply: new Uint8Array(0) };
      return isMade ? links.shim.netlink(effect).then(() => lost) : Promise.resolve(lost);
    };
  }
  const veth = { name: "extra0", vlans: [], keepDefaultVlan: false, up: true };

  test("whose answer was lost finds the link that it made, and removes it", async () => {
    const before = [snapshot(links.node.path), snapshot(pod.path)];
    const { capability } = links.capability({ pod, grant, intercept: losingAnswer(true) });
    for (const operation of [
      { tag: "add-veth", val: { ...veth, master: "lt1" } },
      { tag: "ensure-bridge", val: { name: "lt0", vlanFiltering: false } },
      { tag: "add-macvlan", val: { name: "extra1", parent: { place: "host", name: "lt1" }, mode: "bridge" } },
    ] satisfies LinksOperation[]) {
      const outcome = await capability.apply([operation]);
      expect("err" in outcome ? outcome.err.msg : "").toMatch(
        /answer is incomplete, so it is unknown whether the change was made$/u,
      );
      expect([operation.tag, snapshot(links.node.path), snapshot(pod.path)]).toEqual([operation.tag, ...before]);
    }
  });

  test("whose answer was lost keeps a link of that name that another process made", async () => {
    links.ip("link add veththeirs type veth peer name theirs");
    pod.exec(["ip", "link", "add", "extra1", "type", "bridge"]);
    const before = [snapshot(links.node.path), snapshot(pod.path)];
    const { capability } = links.capability({ pod, grant, intercept: losingAnswer(false) });
    for (const operation of [
      { tag: "add-veth", val: { ...veth, hostName: "veththeirs" } },
      { tag: "add-macvlan", val: { name: "extra1", parent: { place: "host", name: "lt1" }, mode: "bridge" } },
    ] satisfies LinksOperation[]) {
      expect(await capability.apply([operation])).toMatchObject({ err: {} });
      await settlesTo(() => [snapshot(links.node.path), snapshot(pod.path)], before);
    }
  });

  test("removes the link-local address of a MAC that it had set, even where the carrier comes while it is undone", async () => {
    const before = snapshot(pod.path);
    links.ip("link set vethown down");
    const changedMac = "02:00:00:00:00:99";
    const isChangedLinkLocal = (): boolean => links.ip("-6 address show dev eth0", pod).includes("inet6 fe80::ff:fe00:99/64");
    const originalMac = (JSON.parse(links.ip("-j link show dev eth0", pod)) as { address: string }[])[0]?.address ?? "";
    let carrierCame = false;
    const { capability } = links.capability({
      pod,
      grant,
      intercept: (effect) => {
        const restoresMac = messagesOf({ path: effect.path, types: [], effect }).some(({ mac }) => mac === originalMac);
        if (!restoresMac || carrierCame) return undefined;
        carrierCame = true;
        links.ip("link set vethown up");
        return vi.waitUntil(isChangedLinkLocal, { timeout: 120_000, interval: 10 }).then(() => links.shim.netlink(effect));
      },
    });
    const outcome = await capability.apply([
      { tag: "change-link", val: { link: eth0, mac: changedMac, alternativeNames: [] } },
      { tag: "change-link", val: { link: eth0, up: false, alternativeNames: [] } },
      { tag: "change-link", val: { link: eth0, up: true, alternativeNames: [] } },
      failing,
    ]);
    expect("err" in outcome ? outcome.err.details : "not undone").not.toContain("not undone");
    expect(carrierCame).toBe(true);
    expect(isChangedLinkLocal()).toBe(false);
    await settlesTo(() => snapshot(pod.path), before);
  });

  test("names the change that it could not undo: a removed link", async () => {
    const { capability } = links.capability({ pod, grant });
    const outcome = await capability.apply([
      { tag: "delete-link", val: eth0 },
      { ...failing, val: { ...failing.val, link: undefined } },
    ]);
    const { details = "" } = "err" in outcome ? outcome.err : {};
    expect(details).toMatch(/^not undone: removing link "eth0" of the pod: a removed link cannot be made again$/mu);
  });

  test("names the operation, the link, and the kernel's error text", async () => {
    const { capability } = links.capability({ pod, grant });
    const faultOf = async (...failingOperations: LinksOperation[]): Promise<string> => {
      const outcome = await capability.apply(failingOperations);
      return "err" in outcome ? outcome.err.msg : "";
    };
    const first: LinksOperation = { tag: "ensure-bridge", val: { name: "lt0", vlanFiltering: false } };
    expect(await faultOf(first, { tag: "add-address", val: { link: eth0, address: "10.9.0.2/24", noDad: false } })).toBe(
      'links: operation 1 (add-address): adding 10.9.0.2/24 to link "eth0" of the pod: EEXIST, file already exists: ipv4: Address already assigned',
    );
    expect(await faultOf(failing)).toBe(
      'links: operation 0 (add-route): adding the route 10.99.0.0/16 via 203.0.113.1 over link "eth0" of the pod: ENETUNREACH, network is unreachable: Nexthop has invalid gateway',
    );
    expect(await faultOf({ tag: "add-veth", val: { ...veth, name: "eth0" } })).toMatch(
      /^links: operation 0 \(add-veth\): making link "eth0" of the pod: EEXIST, file already exists/u,
    );
    expect(
      await faultOf({
        tag: "ensure-address",
        val: { link: { place: "host", name: "lt1" }, address: "10.81.0.1/24", replace: false },
      }),
    ).toBe(
      'links: operation 0 (ensure-address): link "lt1" of the node already has address 10.80.0.1/24; 10.81.0.1/24 cannot be added. Use one subnet and one gateway address for all networks on "lt1", or set forceAddress.',
    );
    expect(
      await faultOf({ tag: "change-link", val: { link: { place: "pod", name: "extra9" }, up: true, alternativeNames: [] } }),
    ).toBe('links: operation 0 (change-link): link "extra9" of the pod does not exist');
  });
});
