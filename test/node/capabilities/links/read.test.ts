// `read`, `routes`, `vrfs`, `default-link`, `neighbours` and `settle`, malformed operations, and the verbs that allow each.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createPodNamespace, type PodNamespace, missingPrivateNamespaces } from "../../../lab/namespaces.ts";
import { missing } from "../../../lab/requires.ts";
import type { LinksOperation } from "../../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { type LinkTests, openLinkTests } from "../../../../host/capabilities/links/testing/link-tests.ts";

const eth0 = { place: "pod", name: "eth0" } as const;
const onNode = (name: string): { place: "host"; name: string } => ({ place: "host", name });

describe.skipIf(missing("reading links", missingPrivateNamespaces))("reading", () => {
  let links: LinkTests;
  let pod: PodNamespace;
  beforeEach(async () => {
    links = await openLinkTests();
    pod = createPodNamespace("read");
    links.ip("link add br0 type bridge");
    links.ip(`link add vethown mtu 1400 type veth peer name eth0 mtu 1400 netns ${pod.name}`);
    links.ip("link set vethown master br0 up");
    links.ip("link set eth0 up", pod);
    links.ip("link set eth0 promisc on allmulticast on txqueuelen 55", pod);
    links.ip("link property add dev eth0 altname another", pod);
    links.ip("address add 10.9.0.2/24 dev eth0", pod);
  });
  afterEach(async () => {
    pod.dispose();
    await links.dispose();
  });

  test("answers the existing links in the order of their names, with the name of a veth's other end", async () => {
    const { capability } = links.capability({ pod, verb: "CHECK", grant: { bridges: ["br*"] } });
    const names = [onNode("vethown"), eth0, onNode("br9"), onNode("br0"), { place: "pod", name: "lo" } as const];
    const [end, inPod, bridge, lo, ...more] = links.valueOf(await capability.read(names));
    expect(more).toEqual([]);
    expect(end).toMatchObject({ place: "host", name: "vethown", kind: "veth", peer: "eth0", master: "br0", mtu: 1400 });
    expect(end?.port).toEqual({ hairpin: false, isolated: false, learning: true, flood: true });
    expect(inPod).toMatchObject({ place: "pod", name: "eth0", kind: "veth", peer: "vethown", mtu: 1400, txQueueLength: 55 });
    expect(inPod).toMatchObject({ promiscuous: true, allMulticast: true, alternativeNames: ["another"], up: true });
    expect(inPod?.addresses).toContainEqual({ address: "10.9.0.2/24", tentative: false, dadFailed: false });
    expect(bridge).toMatchObject({ name: "br0", kind: "bridge", vlanFiltering: false, up: false });
    expect(lo).toMatchObject({ name: "lo", kind: "" });
    expect(lo?.mac).toBe("00:00:00:00:00:00");
  });

  test("answers no peer for a veth whose other end is in a third namespace", async () => {
    const third = createPodNamespace("read");
    try {
      links.ip("link delete eth0", pod);
      links.ip(`link add eth0 type veth peer name br0 netns ${third.name}`, pod);
      const { capability } = links.capability({ pod });
      const [link] = links.valueOf(await capability.read([eth0]));
      expect(link).toMatchObject({ kind: "veth", peer: undefined });
    } finally {
      third.dispose();
    }
  });

  test("answers no links of a namespace that does not exist", async () => {
    for (const netns of ["", "/run/netns/nothing-there"]) {
      const { capability } = links.capability({ netns, verb: "CHECK" });
      expect(links.valueOf(await capability.read([eth0]))).toEqual([]);
      expect(links.valueOf(await capability.routes(undefined))).toEqual([]);
    }
  });

  test("answers the routes over a link, or all of the pod's, with their metrics, but not the table local", async () => {
    for (const route of [
      "route add default via 10.9.0.1 mtu 1300 advmss 1000",
      "route add 10.20.0.0/16 via 10.9.0.1 metric 7 table 77",
      "route add 10.30.0.0/16 nexthop via 10.9.0.3 nexthop via 10.9.0.4",
      "route add 127.9.0.0/16 dev lo scope link",
      "route add unreachable 10.40.0.0/16",
    ])
      links.ip(route, pod);
    const { capability } = links.capability({ pod });
    const four = links.valueOf(await capability.routes(eth0)).filter(({ dst }) => dst.includes("."));
    const onEth0 = { link: "eth0", mtu: undefined, advmss: undefined, priority: undefined, table: undefined, source: undefined };
    expect(four).toEqual([
      { ...onEth0, dst: "10.20.0.0/16", gw: "10.9.0.1", priority: 7, table: 77, scope: 0 },
      { ...onEth0, dst: "0.0.0.0/0", gw: "10.9.0.1", mtu: 1300, advmss: 1000, scope: 0 },
      { ...onEth0, dst: "10.9.0.0/24", gw: undefined, scope: 253, source: "10.9.0.2" },
      { ...onEth0, dst: "10.30.0.0/16", gw: "10.9.0.3", scope: 0 },
      { ...onEth0, dst: "10.30.0.0/16", gw: "10.9.0.4", scope: 0 },
    ]);
    const all = links.valueOf(await capability.routes(undefined)).map(({ dst, link }) => `${dst} ${link ?? ""}`);
    expect(all).toEqual(expect.arrayContaining(["127.9.0.0/16 lo", "10.9.0.0/24 eth0"]));
    expect(all.join()).not.toContain("10.40.0.0/16");
  });

  test("answers the link of the default route with the lowest metric; on the node it must be a granted parent", async () => {
    const { capability } = links.capability({ pod, grant: { parents: ["vethown"] } });
    expect(links.valueOf(await capability.defaultLink("pod"))).toBeUndefined();
    links.ip("route add default via 10.9.0.1", pod);
    expect(links.valueOf(await capability.defaultLink("pod"))).toBe("eth0");
    links.ip("address add 10.8.0.1/24 dev br0");
    links.ip("link set br0 up");
    links.ip("route add default dev br0 metric 5");
    expect(await capability.defaultLink("host")).toMatchObject({
      err: {
        code: 7,
        msg: expect.stringContaining('link "br0" of the node is not granted: wasm.grants.test.links.parents has vethown'),
      },
    });
    links.ip("route add default dev vethown metric 4");
    expect(links.valueOf(await capability.defaultLink("host"))).toBe("vethown");
  });

  test("answers no VRFs for a pod without any, and for a namespace that is gone", async () => {
    expect(links.valueOf(await links.capability({ pod }).capability.vrfs())).toEqual([]);
    const gone = links.capability({ netns: "/run/netns/nothing-there", verb: "DEL" });
    expect(links.valueOf(await gone.capability.vrfs())).toEqual([]);
  });

  test("answers permanent neighbours and proxy entries", async () => {
    links.ip("neighbour add 10.9.0.7 lladdr 02:00:00:00:00:07 dev eth0", pod);
    links.ip("neighbour add 10.9.0.8 lladdr 02:00:00:00:00:08 dev eth0 nud reachable", pod);
    links.ip("neighbour add proxy 10.9.0.9 dev eth0", pod);
    const { capability } = links.capability({ pod });
    expect(links.valueOf(await capability.neighbours(eth0))).toEqual([
      { address: "10.9.0.7", mac: "02:00:00:00:00:07", proxy: false },
      { address: "10.9.0.9", mac: undefined, proxy: true },
    ]);
  });

  test("is refused for links that are not granted", async () => {
    links.ip("link add other type bridge");
    const { capability } = links.capability({ pod, grant: { bridges: ["br0"] } });
    for (const reading of [
      capability.read([onNode("other")]),
      capability.routes(onNode("other")),
      capability.neighbours(onNode("other")),
    ])
      expect(await reading).toMatchObject({ err: { code: 7, msg: expect.stringContaining('link "other" of the node') } });
    expect(await capability.read([{ place: "pod", name: "other0" }])).toMatchObject({ err: { code: 7 } });
  });

  test("CHECK, GC and STATUS cannot change links, and a STATUS call has no pod", async () => {
    for (const verb of ["CHECK", "GC", "STATUS"] as const) {
      const { capability, sent } = links.capability({ pod, verb });
      expect(await capability.apply([{ tag: "delete-link", val: eth0 }])).toMatchObject({
        err: { code: 999, msg: `links: apply is allowed in ADD and DEL only, and this call is ${verb}` },
      });
      expect(sent).toEqual([]);
    }
    const { capability } = links.capability({ verb: "STATUS", attachment: false });
    expect(await capability.read([eth0])).toMatchObject({
      err: { msg: 'links: read: link "eth0" of the pod cannot be used: a STATUS call has no pod' },
    });
    expect(await capability.routes(undefined)).toMatchObject({ err: { code: 999 } });
    expect(await capability.vrfs()).toMatchObject({ err: { code: 999 } });
    expect(await capability.defaultLink("pod")).toMatchObject({ err: { code: 999 } });
  });

  const malformed: readonly (readonly [LinksOperation, string])[] = [
    [{ tag: "delete-link", val: { place: "pod", name: "a/b" } }, "interface name contains /"],
    [{ tag: "delete-link", val: { place: "pod", name: "eth%d" } }, "interface name contains %"],
    [{ tag: "ensure-bridge", val: { name: "a-name-of-16-byt", vlanFiltering: false } }, "interface name is too long"],
    [{ tag: "add-dummy", val: { name: "eth0", mac: "02:00:00:00:00" } }, "is not a MAC address"],
    [{ tag: "add-address", val: { link: eth0, address: "10.9.0.2", noDad: false } }, "is not an IP address with a prefix length"],
    [
      { tag: "add-route", val: { place: "pod", route: { dst: "::/0", gw: "10.9.0.1" }, onLink: false } },
      "an IPv6 route cannot have the IPv4 gateway 10.9.0.1",
    ],
    [{ tag: "add-route", val: { place: "pod", route: { dst: "0.0.0.0/0" }, onLink: false } }, "needs a gateway or a link"],
    [{ tag: "add-vlan", val: { name: "eth0", parent: eth0, id: 4095 } }, "VLAN 4095 is not in the range 1 to 4094"],
    [
      { tag: "add-port-vlan", val: { link: "br0", vlan: { first: 9, last: 8, pvid: false, untagged: false } } },
      "the VLAN range 9 to 8 ends before it begins",
    ],
    [
      { tag: "set-interface", val: { link: eth0, family: "ipv4", name: "../x", value: "1", required: true } },
      "is not an accepted ipv4 setting",
    ],
    [
      { tag: "set-interface", val: { link: eth0, family: "ipv6", name: "accept_ra", value: "1\n", required: true } },
      "is not a number",
    ],
    [
      { tag: "add-veth", val: { name: "eth0", hostName: "docker0", vlans: [], keepDefaultVlan: false, up: true } },
      "does not begin with veth",
    ],
    [
      { tag: "settle", val: { link: eth0, milliseconds: 600_000 } },
      "waiting for 600000 ms in total exceeds the maximum of 30000 ms",
    ],
    [{ tag: "change-link", val: { link: eth0, alternativeNames: ["a/b"] } }, "is not an alternative name"],
  ];

  test("malformed operations, and more than 256 operations, are refused by name before anything is sent", async () => {
    const { capability, sent } = links.capability({ pod, grant: { bridges: ["*"], podLinks: ["*"], forwarding: true } });
    for (const [operation, mistake] of malformed) {
      const outcome = await capability.apply([{ tag: "delete-link", val: eth0 }, operation]);
      const { code, msg } = "err" in outcome ? outcome.err : { code: 0, msg: "apply succeeded" };
      expect([code, msg]).toEqual([999, expect.stringContaining(`links: operation 1 (${operation.tag}): `)]);
      expect(msg).toContain(mistake);
    }
    const many = Array.from({ length: 257 }, (): LinksOperation => ({ tag: "delete-link", val: eth0 }));
    expect(await capability.apply(many)).toMatchObject({
      err: { code: 999, msg: "links: 257 operations exceed the maximum of 256" },
    });
    expect(sent).toEqual([]);
  });

  test("settle fails for a duplicate address, and for a link that is down after the wait", async () => {
    links.ip("link set br0 up");
    links.ip("address add fd09::5/64 dev br0 nodad");
    // Before the port forwards, the bridge drops the probes of duplicate address detection.
    await vi.waitUntil(() => links.ip("-d link show dev vethown").includes("state forwarding"), {
      timeout: 120_000,
      interval: 20,
    });
    const { capability } = links.capability({ pod });
    const taken = await capability.apply([
      { tag: "add-address", val: { link: eth0, address: "fd09::5/64", noDad: false } },
      { tag: "settle", val: { link: eth0, milliseconds: 30_000 } },
    ]);
    expect(taken).toMatchObject({
      err: {
        msg: 'links: operation 1 (settle): link "eth0" of the pod: fd09::5/64 is already in use on the network (duplicate address detection). Remove the other user, or exclude the address from the IPAM ranges.',
      },
    });
    expect(pod.addresses().map(({ address }) => address)).not.toContain("fd09::5/64");
    pod.exec(["ip", "link", "set", "eth0", "down"]);
    expect(await capability.apply([{ tag: "settle", val: { link: eth0, milliseconds: 30 } }])).toMatchObject({
      err: { msg: 'links: operation 0 (settle): link "eth0" of the pod is not usable after 30 ms: it is down' },
    });
  });

  test("FI-21: a link without carrier at the end of the wait is no fault, and its addresses stay", async () => {
    links.ip("link set vethown down");
    const { capability } = links.capability({ pod });
    const answer = await capability.apply([
      { tag: "add-address", val: { link: eth0, address: "fd09::7/64", noDad: false } },
      { tag: "settle", val: { link: eth0, milliseconds: 30 } },
    ]);
    expect(answer).toMatchObject({ ok: [expect.objectContaining({ name: "eth0", running: false })] });
    // The carrier comes late: the kernel finishes duplicate address detection.
    links.ip("link set vethown up");
    await expect
      .poll(() => pod.exec(["ip", "-6", "address", "show", "dev", "eth0"]).stdout, { interval: 50, timeout: 60_000 })
      .not.toContain("tentative");
    expect(pod.addresses().map(({ address }) => address)).toContain("fd09::7/64");
  });
});
