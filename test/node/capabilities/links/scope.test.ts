// The scope of a delegate, with a real shim and the kernel: requests beyond it are refused by name and leave the node unchanged.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { LinkGrant } from "../../../../src/configuration/keys/grant-keys.ts";
import { createPodNamespace, type PodNamespace, missingPrivateNamespaces } from "../../../lab/namespaces.ts";
import { missing } from "../../../lab/requires.ts";
import type { LinksOperation } from "../../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { type LinkTests, openLinkTests } from "../../../../host/capabilities/links/testing/link-tests.ts";
import { messagesOf } from "../../../../host/capabilities/links/testing/sent-messages.ts";
import { snapshot } from "../../../../host/capabilities/links/testing/snapshot.ts";
import { openTwoPods } from "../../../../host/capabilities/links/testing/two-pods.ts";

const onNode = (name: string): { place: "host"; name: string } => ({ place: "host", name });
const inPod = (name: string): { place: "pod"; name: string } => ({ place: "pod", name });

const addressOnNode = (text: string): LinksOperation => ({
  tag: "ensure-address",
  val: { link: onNode("brgood"), address: text, replace: false },
});
const routeOfNode = (dst: string): LinksOperation => ({
  tag: "add-route",
  val: { link: onNode("brgood"), place: "host", route: { dst }, onLink: false },
});
const proxyOnNode = (text: string): LinksOperation => ({
  tag: "add-neighbour",
  val: { link: onNode("brgood"), neighbour: { address: text, proxy: true } },
});

describe.skipIf(missing("scope of links", missingPrivateNamespaces))("the scope", () => {
  let links: LinkTests;
  let pod: PodNamespace;
  let neighbour: PodNamespace;
  beforeEach(async () => {
    links = await openLinkTests();
    ({ pod, neighbour } = openTwoPods(links));
  });
  afterEach(async () => {
    for (const namespace of [pod, neighbour]) namespace.dispose();
    await links.dispose();
  });

  function indexOf(name: string, inside?: PodNamespace): string {
    const text = links.ip(`-o link show dev ${name}`, inside);
    return text.slice(0, text.indexOf(":"));
  }

  const veth = { name: "net1", vlans: [], keepDefaultVlan: false, up: true };
  const macvlan = { name: "net1", mode: "bridge" } as const;

  const refused: readonly [about: string, operation: LinksOperation, key: string][] = [
    ["a bridge", { tag: "ensure-bridge", val: { name: "brother", vlanFiltering: false } }, "bridges has brgood"],
    ["a new bridge", { tag: "ensure-bridge", val: { name: "brnew", vlanFiltering: false } }, "bridges has brgood"],
    ["a master", { tag: "add-veth", val: { ...veth, name: "eth0", master: "brother" } }, "bridges has brgood"],
    ["a parent", { tag: "add-macvlan", val: { ...macvlan, parent: onNode("dev1") } }, "parents has dev0"],
    ["a bridge as a parent", { tag: "add-macvlan", val: { ...macvlan, parent: onNode("brgood") } }, "parents has dev0"],
    [
      "the change of a parent",
      { tag: "change-link", val: { link: onNode("dev0"), mtu: 1400, alternativeNames: [] } },
      "bridges has brgood",
    ],
    [
      "a change of an uplink besides its master",
      { tag: "change-link", val: { link: onNode("up0"), up: false, alternativeNames: [] } },
      "bridges has",
    ],
    [
      "the change of a device",
      { tag: "change-link", val: { link: onNode("dev1"), up: true, alternativeNames: [] } },
      "bridges has brgood",
    ],
    [
      "the change of lo",
      { tag: "change-link", val: { link: onNode("lo"), up: false, alternativeNames: [] } },
      "bridges has brgood",
    ],
    ["a neighbour's end", { tag: "delete-link", val: onNode("vethnext") }, "bridges has brgood"],
    ["a neighbour's port", { tag: "change-port", val: { link: "vethnext", port: { isolated: false } } }, "bridges has brgood"],
    [
      "a neighbour's VLANs",
      { tag: "add-port-vlan", val: { link: "vethnext", vlan: { first: 2, last: 2, pvid: false, untagged: false } } },
      "bridges",
    ],
    [
      "the VLANs of an uplink that is not a port of a granted bridge",
      { tag: "add-port-vlan", val: { link: "up0", vlan: { first: 2, last: 2, pvid: false, untagged: false } } },
      "bridges",
    ],
    ["the removal of a bridge", { tag: "delete-link", val: onNode("brgood") }, "bridges has brgood"],
    [
      "an address",
      { tag: "add-address", val: { link: onNode("dev1"), address: "10.1.1.1/24", noDad: false } },
      "networks has nothing",
    ],
    [
      "an address of the attachment's end on the node",
      { tag: "add-address", val: { link: onNode("vethown"), address: "8.8.8.8/32", noDad: false } },
      "networks has nothing",
    ],
    [
      "a neighbour entry of the attachment's end on the node",
      { tag: "add-neighbour", val: { link: onNode("vethown"), neighbour: { address: "10.1.1.1", proxy: true } } },
      "networks has nothing",
    ],
    [
      "a route over the attachment's end on the node",
      { tag: "add-route", val: { link: onNode("vethown"), place: "host", route: { dst: "10.1.1.7/32" }, onLink: false } },
      "networks has nothing",
    ],
    [
      "an address of a neighbour's end on the node",
      { tag: "add-address", val: { link: onNode("vethnext"), address: "10.1.1.1/24", noDad: false } },
      "networks has nothing",
    ],
    [
      "a route",
      { tag: "add-route", val: { link: onNode("dev1"), place: "host", route: { dst: "0.0.0.0/0" }, onLink: false } },
      "networks has nothing",
    ],
    [
      "a neighbour entry",
      { tag: "add-neighbour", val: { link: onNode("dev1"), neighbour: { address: "10.1.1.1", proxy: true } } },
      "networks has nothing",
    ],
    [
      "a setting",
      { tag: "set-interface", val: { link: onNode("dev1"), family: "ipv4", name: "proxy_arp", value: "1", required: false } },
      "bridges has",
    ],
    ["forwarding", { tag: "enable-forwarding", val: "ipv6" }, "forwarding has nothing"],
    [
      "forwarding of a bridge",
      { tag: "set-interface", val: { link: onNode("brgood"), family: "ipv4", name: "forwarding", value: "1", required: true } },
      "forwarding has nothing",
    ],
    [
      "another link of the pod",
      { tag: "change-link", val: { link: inPod("other0"), up: true, alternativeNames: [] } },
      "podLinks has net1",
    ],
    ["a further link in the pod", { tag: "add-dummy", val: { name: "net2" } }, "podLinks has net1"],
    ["the removal of another link of the pod", { tag: "delete-link", val: inPod("other0") }, "podLinks has net1"],
    ["the removal of the pod's lo", { tag: "delete-link", val: inPod("lo") }, "podLinks has net1"],
    [
      "another master in the pod",
      { tag: "change-link", val: { link: inPod("eth0"), master: "other0", alternativeNames: [] } },
      "podLinks has net1",
    ],
  ];

  test("refuses what is not granted by name, with the key that would allow it, before any change of the call", async () => {
    const grant = { bridges: ["brgood"], parents: ["dev0"], uplinks: ["up*"], podLinks: ["net1"] };
    const before = [snapshot(links.node.path), snapshot(pod.path), snapshot(neighbour.path)];
    const { capability, sent } = links.capability({ pod, grant });
    const first: LinksOperation = { tag: "add-address", val: { link: inPod("eth0"), address: "10.9.9.9/24", noDad: false } };
    for (const [about, operation, key] of refused) {
      const outcome = await capability.apply([first, operation]);
      const { code, msg } = "err" in outcome ? outcome.err : { code: 0, msg: "apply succeeded" };
      expect([about, code, msg]).toEqual([about, 7, expect.stringContaining(`links: operation 1 (${operation.tag}): `)]);
      expect([about, msg]).toEqual([about, expect.stringContaining(`is not granted: wasm.grants.test.links.${key}`)]);
    }
    expect(sent.flatMap(messagesOf).filter(({ changes }) => changes)).toEqual([]);
    expect([snapshot(links.node.path), snapshot(pod.path), snapshot(neighbour.path)]).toEqual(before);
  });

  test("allows addresses of the node only in granted networks, and routes only where networks are granted", async () => {
    const up: LinksOperation = { tag: "ensure-bridge", val: { name: "brgood", vlanFiltering: false } };
    const networks = ["10.50.0.0/16", "fd50::/32"];
    const listed = links.capability({ pod, grant: { bridges: ["brgood"], networks } });
    const before = snapshot(links.node.path);
    for (const operation of [
      ...["10.51.0.1/24", "10.50.0.1/15", "0.0.0.1/0", "128.0.0.1/1", "fd51::1/64", "fd50::1/31"].map(addressOnNode),
      ...["0.0.0.0/0", "10.0.0.0/8", "10.51.0.0/24", "::/0"].map(routeOfNode),
      ...["10.51.0.9", "fd51::9"].map(proxyOnNode),
    ])
      expect([operation, await listed.capability.apply([up, operation])]).toMatchObject([
        operation,
        { err: { code: 7, msg: expect.stringContaining(`wasm.grants.test.links.networks has ${networks.join(", ")}`) } },
      ]);
    const unlisted = links.capability({ pod, grant: { bridges: ["brgood"] } });
    expect(await unlisted.capability.apply([up, addressOnNode("10.50.0.1/16"), routeOfNode("10.50.7.0/24")])).toMatchObject({
      err: { code: 7, msg: expect.stringContaining("wasm.grants.test.links.networks has nothing") },
    });
    expect(snapshot(links.node.path)).toEqual(before);
    links.valueOf(
      await listed.capability.apply([up, addressOnNode("10.50.0.1/16"), routeOfNode("10.50.7.0/24"), proxyOnNode("10.50.0.9")]),
    );
    expect(links.node.routes()).toContain("10.50.7.0/24");
    const inThePod: LinksOperation = { tag: "add-address", val: { link: inPod("eth0"), address: "192.0.2.1/24", noDad: false } };
    links.valueOf(await listed.capability.apply([inThePod]));
  });

  test("allows addresses, routes and neighbours of the attachment's end on the node in granted networks, and those of no other link", async () => {
    const { capability } = links.capability({ pod, grant: { networks: ["10.50.0.0/16"] } });
    const operations = (link: string): readonly LinksOperation[] => [
      { tag: "add-address", val: { link: onNode(link), address: "10.50.0.1/24", noDad: false } },
      { tag: "add-route", val: { link: onNode(link), place: "host", route: { dst: "10.50.7.7/32" }, onLink: false } },
      { tag: "add-neighbour", val: { link: onNode(link), neighbour: { address: "10.50.0.9", proxy: true } } },
    ];
    const before = snapshot(links.node.path);
    for (const operation of ["vethnext", "dev1", "lo"].flatMap(operations))
      expect([operation, await capability.apply([operation])]).toMatchObject([
        operation,
        { err: { code: 7, msg: expect.stringContaining("not the node's end of the attachment's veth or a granted bridge") } },
      ]);
    expect(snapshot(links.node.path)).toEqual(before);
    links.valueOf(await capability.apply([...operations("vethown")]));
    expect(links.ip("-o address show dev vethown")).toContain("10.50.0.1/24");
    expect(links.node.routes()).toContain("10.50.7.7");
    const made: LinksOperation[] = [
      { tag: "delete-link", val: inPod("eth0") },
      { tag: "add-veth", val: { ...veth, name: "eth0", hostName: "vethmade" } },
      { tag: "add-address", val: { link: onNode("vethmade"), address: "10.50.1.1/32", noDad: false } },
    ];
    links.valueOf(await capability.apply(made));
    expect(links.ip("-o address show dev vethmade")).toContain("10.50.1.1/32");
  });

  test("FI-07: allows addresses of the pod only in the networks for pods, and their removal always", async () => {
    const podNetworks = ["10.60.0.0/24", "fd60::/64"];
    const { capability } = links.capability({ pod, grant: { podNetworks } });
    const link = inPod("eth0");
    const add = (address: string): LinksOperation => ({ tag: "add-address", val: { link, address, noDad: true } });
    const before = snapshot(pod.path);
    for (const address of ["10.61.0.2/24", "10.60.0.2/23", "10.60.0.2/0", "fd61::2/64", "fd60::2/63"])
      expect([address, await capability.apply([add(address)])]).toMatchObject([
        address,
        { err: { code: 7, msg: expect.stringContaining(`wasm.grants.test.links.podNetworks has ${podNetworks.join(", ")}`) } },
      ]);
    expect(snapshot(pod.path)).toEqual(before);
    links.valueOf(await capability.apply([add("10.60.0.2/24"), add("fd60::2/64")]));
    pod.exec(["ip", "address", "add", "10.61.0.9/24", "dev", "eth0"]);
    links.valueOf(await capability.apply([{ tag: "delete-address", val: { link, address: "10.61.0.9/24", noDad: false } }]));
  });

  test("refuses VLANs of an uplink that is another bridge's port, even if it leaves that bridge later in the call", async () => {
    links.ip("link set up0 master brother");
    const grant = { bridges: ["brgood"], uplinks: ["up0"] };
    const { capability, sent } = links.capability({ pod, grant });
    const up: LinksOperation = { tag: "ensure-bridge", val: { name: "brgood", vlanFiltering: false } };
    const vlan = { first: 9, last: 9, pvid: false, untagged: false };
    for (const tag of ["add-port-vlan", "delete-port-vlan"] as const) {
      const change: LinksOperation = { tag, val: { link: "up0", vlan } };
      for (const master of ["", "brgood"]) {
        const join: LinksOperation = { tag: "change-link", val: { link: onNode("up0"), master, alternativeNames: [] } };
        expect(await capability.apply([up, change, join])).toMatchObject({ err: { code: 7 } });
      }
    }
    expect(sent.flatMap(messagesOf).filter(({ changes }) => changes)).toEqual([]);
  });

  test("refuses a device or a veth that has a granted bridge's name, and does not change it", async () => {
    const { capability } = links.capability({ pod, grant: { bridges: ["*"] } });
    const before = snapshot(links.node.path);
    for (const name of ["dev0", "vethnext", "lo"]) {
      const outcome = await capability.apply([{ tag: "ensure-bridge", val: { name, vlanFiltering: false } }]);
      expect("err" in outcome ? outcome.err.msg : "").toContain("and not a granted bridge");
      const joined = await capability.apply([{ tag: "add-veth", val: { ...veth, name: "eth0", master: name } }]);
      expect("err" in joined ? joined.err.msg : "").toContain("and not a granted bridge");
    }
    expect(snapshot(links.node.path)).toEqual(before);
  });

  test("identifies the attachment's veth by the node's data: a pod that imitates it is refused", async () => {
    // The pod's eth0 shows the index of the node's link as its other end: the pod made a namespace with a link of that index.
    const index = indexOf("vethnext");
    pod.exec(["ip", "link", "delete", "eth0"]);
    const inner = createPodNamespace("scope");
    try {
      const wanted = indexOf("eth0", neighbour);
      links.ip(`link add eth0 index ${wanted} type veth peer name fake index ${index} netns ${inner.name}`, pod);
      const { capability } = links.capability({ pod });
      const outcome = await capability.apply([{ tag: "delete-link", val: onNode("vethnext") }]);
      expect("err" in outcome ? outcome.err.msg : "").toContain("and not the node's end of the attachment's veth");
      expect(links.node.links().map(({ name }) => name)).toContain("vethnext");
    } finally {
      inner.dispose();
    }
  });

  test.each(["/proc/self/ns/net", "/proc/thread-self/ns/net", "the path of the node's"])(
    "refuses all operations in a pod whose namespace is the node's (%s)",
    async (netns) => {
      links.ip("link add eth0 type bridge");
      try {
        const before = snapshot(links.node.path);
        const { capability } = links.capability({ netns: netns.startsWith("/") ? netns : links.node.path });
        for (const operation of [
          { tag: "delete-link", val: inPod("eth0") },
          { tag: "add-address", val: { link: inPod("eth0"), address: "10.1.1.1/24", noDad: false } },
          { tag: "set-interface", val: { link: inPod("lo"), family: "ipv6", name: "accept_ra", value: "2", required: true } },
          { tag: "add-veth", val: { ...veth, name: "eth0" } },
          { tag: "add-tap", val: { name: "eth0", multiQueue: false } },
        ] satisfies LinksOperation[])
          expect(await capability.apply([operation])).toMatchObject({ err: { code: expect.any(Number) } });
        expect(await capability.read([inPod("eth0")])).toMatchObject({ err: {} });
        expect(snapshot(links.node.path)).toEqual(before);
      } finally {
        links.ip("link delete eth0");
      }
    },
  );

  test("hazard H1: a change of the pod's link never meets the node's link of the same index", async () => {
    const { same, grant } = sameIndex();
    const before = snapshot(links.node.path);
    const { capability } = links.capability({ pod, grant, ifname: same });
    links.valueOf(
      await capability.apply([
        { tag: "change-link", val: { link: inPod(same), mtu: 1333, up: true, alternativeNames: ["alt"] } },
      ]),
    );
    expect(snapshot(links.node.path)).toEqual(before);
    expect(pod.links().find(({ name }) => name === same)).toMatchObject({ mtu: 1333, up: true });
  });

  test("hazard H2: an address of the pod's link never comes to the node's link of the same index", async () => {
    const { same, grant } = sameIndex();
    const before = snapshot(links.node.path);
    const { capability } = links.capability({ pod, grant, ifname: same });
    links.valueOf(
      await capability.apply([
        { tag: "add-address", val: { link: inPod(same), address: "10.251.0.9/24", noDad: false } },
        { tag: "add-address", val: { link: inPod(same), address: "fd51::9/64", noDad: true } },
      ]),
    );
    expect(snapshot(links.node.path)).toEqual(before);
    expect(pod.addresses()).toContainEqual({ link: same, address: "10.251.0.9/24", scope: "global" });
  });

  /** Makes a link in the pod that has the index of the node's `dev1`. */
  function sameIndex(): { readonly same: string; readonly grant: LinkGrant } {
    const index = indexOf("dev1");
    pod.exec(["ip", "link", "add", "same0", "index", index, "type", "bridge"]);
    return { same: "same0", grant: {} };
  }

  test("hazard H4: nothing that is sent in the pod's namespace names another one", async () => {
    const grant = { bridges: ["brgood"], parents: ["dev0"], podLinks: ["net*"] };
    const { capability, sent } = links.capability({ pod, grant });
    links.ip("link set dev0 up");
    links.valueOf(
      await capability.apply([
        { tag: "add-veth", val: { ...veth, master: "brgood" } },
        { tag: "add-macvlan", val: { name: "net2", mode: "bridge", parent: onNode("dev0") } },
        { tag: "add-macvlan", val: { name: "net3", mode: "private", parent: inPod("net1") } },
        { tag: "change-link", val: { link: inPod("eth0"), mtu: 1400, alternativeNames: [] } },
      ]),
    );
    links.valueOf(await capability.read([inPod("eth0"), inPod("net1"), inPod("net2"), onNode("vethown")]));
    const all = sent.flatMap(messagesOf);
    const usesSecondNamespace = all.filter(({ namesNamespace }) => namesNamespace);
    expect(usesSecondNamespace.map(({ place, type }) => [place, type])).toEqual([
      ["host", 16],
      ["host", 16],
    ]);
    expect(all.filter(({ forbidden }) => forbidden.length > 0)).toEqual([]);
    expect(pod.links().map(({ name }) => name)).toEqual(expect.arrayContaining(["eth0", "net1", "net2", "net3"]));
  });
});
