// Kinds of links that not every kernel supports; ip(8) and bridge(8) show the effect. `npm run vm -- test/node/capabilities/links/kinds.test.ts` runs all.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createPodNamespace, type PodNamespace, missingPrivateNamespaces } from "../../../lab/namespaces.ts";
import { linkType, missing, type Requirement } from "../../../lab/requires.ts";
import { spawnSync } from "node:child_process";
import type { LinksOperation } from "../../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { type LinkTests, openLinkTests } from "../../../../host/capabilities/links/testing/link-tests.ts";
import { snapshot } from "../../../../host/capabilities/links/testing/snapshot.ts";

const inPod = (name: string): { place: "pod"; name: string } => ({ place: "pod", name });
const onNode = (name: string): { place: "host"; name: string } => ({ place: "host", name });

function numbers(first: number, last: number): readonly string[] {
  return Array.from({ length: last - first + 1 }, (_, more) => String(first + more));
}

function join(master: string): LinksOperation {
  return { tag: "change-link", val: { link: onNode("dev1"), master, alternativeNames: [] } };
}

const vlanFiltering: Requirement = () =>
  spawnSync("unshare", ["--net", "ip", "link", "add", "b0", "type", "bridge", "vlan_filtering", "1"]).status === 0
    ? undefined
    : "the kernel's bridges have no VLAN filtering";

describe.skipIf(missing("kinds of links", missingPrivateNamespaces))("operations that depend on the kernel", () => {
  let links: LinkTests;
  let pod: PodNamespace;
  beforeEach(async () => {
    links = await openLinkTests();
    pod = createPodNamespace("kinds");
    links.ip("link add dev0 type veth peer name dev1");
    links.ip("link set dev0 up");
  });
  afterEach(async () => {
    pod.dispose();
    await links.dispose();
  });

  const grant = { bridges: ["lt0"], parents: ["dev0"], uplinks: ["dev1"], podLinks: ["net*"] };

  /** A link's kind by ip(8). */
  function kindOf(name: string, namespace: PodNamespace = pod): unknown {
    const [link] = JSON.parse(links.ip(`-j -d link show dev ${name}`, namespace)) as { linkinfo?: unknown; mtu?: unknown }[];
    return { ...Object(link?.linkinfo), mtu: link?.mtu };
  }

  const uppers: readonly [kind: Parameters<typeof linkType>[0], operation: LinksOperation, byIp: object, read: object][] = [
    [
      "vlan",
      { tag: "add-vlan", val: { name: "eth0", parent: onNode("dev0"), id: 77, mtu: 1400 } },
      { info_kind: "vlan", info_data: { id: 77 }, mtu: 1400 },
      { kind: "vlan", vlanId: 77, parent: "dev0" },
    ],
    [
      "ipvlan",
      { tag: "add-ipvlan", val: { name: "eth0", parent: onNode("dev0"), mode: "l3s" } },
      { info_kind: "ipvlan", info_data: { mode: "l3s" } },
      { kind: "ipvlan", mode: "l3s", parent: "dev0" },
    ],
    [
      "macvlan",
      { tag: "add-macvlan", val: { name: "eth0", parent: onNode("dev0"), mode: "vepa", mac: "02:00:00:00:00:42" } },
      { info_kind: "macvlan", info_data: { mode: "vepa" } },
      { kind: "macvlan", mode: "vepa", parent: "dev0", mac: "02:00:00:00:00:42" },
    ],
    [
      "macvlan",
      { tag: "add-macvlan", val: { name: "eth0", parent: onNode("dev0"), mode: "passthru", broadcastQueue: 2000 } },
      { info_kind: "macvlan", info_data: { mode: "passthru" } },
      { kind: "macvlan", mode: "passthru", parent: "dev0" },
    ],
    ["dummy", { tag: "add-dummy", val: { name: "eth0", mtu: 1300 } }, { info_kind: "dummy", mtu: 1300 }, { kind: "dummy" }],
    [
      "bond",
      {
        tag: "add-bond",
        val: { name: "eth0", mode: "active-backup", mac: "02:00:00:00:00:43", mtu: 1400, monitorInterval: 100, failOverMac: 1 },
      },
      {
        info_kind: "bond",
        info_data: expect.objectContaining({ mode: "active-backup", miimon: 100, fail_over_mac: "active" }),
        mtu: 1400,
      },
      { kind: "bond", mode: "active-backup", mac: "02:00:00:00:00:43" },
    ],
    [
      "vrf",
      { tag: "add-vrf", val: { name: "eth0", table: 1234 } },
      { info_kind: "vrf", info_data: { table: 1234 } },
      { kind: "vrf" },
    ],
  ];

  for (const [kind, operation, byIp, read] of uppers) {
    const name = `${kind} ${JSON.stringify(operation.val)}`;
    test.skipIf(missing(`making ${kind}`, linkType(kind)))(`${name} is made in the pod, read back, and undone`, async () => {
      const { capability } = links.capability({ pod, grant });
      const before = [snapshot(links.node.path), snapshot(pod.path)];
      const up: LinksOperation = { tag: "change-link", val: { link: inPod("eth0"), up: true, alternativeNames: [] } };
      expect(await capability.apply([operation, up, refused])).toMatchObject({ err: {} });
      expect([snapshot(links.node.path), snapshot(pod.path)]).toEqual(before);
      const [link] = links.valueOf(await capability.apply([operation, up]));
      expect(kindOf("eth0")).toMatchObject(byIp);
      expect(link).toMatchObject({ place: "pod", name: "eth0", up: true, ...read });
      expect(links.valueOf(await capability.read([inPod("eth0")]))).toMatchObject([{ name: "eth0", ...read }]);
    });

    test.skipIf(linkType(kind)() === undefined)(
      `${kind}: the fault of a kernel without it has its error text, and nothing is left`,
      async () => {
        const { capability } = links.capability({ pod, grant });
        const outcome = await capability.apply([operation]);
        expect("err" in outcome ? outcome.err.msg : "").toMatch(
          /^links: operation 0 \(add-\w+\): making link "eth0" of the pod: E(?:OP)?NOTSUPP?, .*Unknown device type$/u,
        );
        expect(pod.links()).toEqual([]);
      },
    );
  }
  const refused: LinksOperation = {
    tag: "add-route",
    val: { place: "pod", route: { dst: "10.99.0.0/16", gw: "203.0.113.1" }, onLink: false },
  };

  test.skipIf(missing("a VRF's ports", linkType("vrf")))(
    "a link of the pod joins a new VRF, and leaves it in the undo",
    async () => {
      const { capability } = links.capability({ pod, grant });
      links.ip(`link add vethown type veth peer name eth0 netns ${pod.name}`);
      const joining: LinksOperation[] = [
        { tag: "add-vrf", val: { name: "net7", table: 7 } },
        { tag: "change-link", val: { link: inPod("net7"), up: true, alternativeNames: [] } },
        { tag: "change-link", val: { link: inPod("eth0"), master: "net7", alternativeNames: [] } },
      ];
      const before = snapshot(pod.path);
      expect(await capability.apply([...joining, refused])).toMatchObject({ err: {} });
      expect(snapshot(pod.path)).toEqual(before);
      const answer = links.valueOf(await capability.apply(joining));
      expect(answer.find(({ name }) => name === "eth0")).toMatchObject({ master: "net7" });
      expect(pod.links().find(({ name }) => name === "eth0")).toMatchObject({ master: "net7" });
      expect(links.valueOf(await capability.read([inPod("net7")]))).toMatchObject([{ kind: "vrf", members: ["eth0"] }]);
    },
  );

  test.skipIf(missing("the pod's VRFs", linkType("vrf")))(
    "the pod's VRFs are answered with their tables while their interfaces are down, and those of the node are not",
    async () => {
      const { capability } = links.capability({ pod, grant });
      links.ip("link add onnode type vrf table 5");
      links.ip("link add red type vrf table 4294967295", pod);
      links.ip("link add green type vrf table 2", pod);
      links.ip("link add net1 master red type veth peer name net1peer", pod);
      expect(links.valueOf(await capability.routes(undefined))).toEqual([]);
      expect(links.valueOf(await capability.vrfs())).toEqual([
        { name: "red", table: 4294967295 },
        { name: "green", table: 2 },
      ]);
    },
  );

  test.skipIf(missing("a bond's members", linkType("bond")))(
    "links of the pod join a new bond while they are down, and leave it in the undo",
    async () => {
      const { capability } = links.capability({ pod, grant });
      for (const name of ["net1", "net2"])
        links.ip(`link add ${name} type veth peer name ${name}peer netns ${links.node.name}`, pod);
      const bonding: LinksOperation[] = [
        { tag: "add-bond", val: { name: "eth0", mode: "active-backup", monitorInterval: 100 } },
        { tag: "change-link", val: { link: inPod("net1"), master: "eth0", alternativeNames: [] } },
        { tag: "change-link", val: { link: inPod("net2"), master: "eth0", alternativeNames: [] } },
        { tag: "change-link", val: { link: inPod("eth0"), up: true, alternativeNames: [] } },
      ];
      expect(await capability.apply([...bonding, refused])).toMatchObject({ err: {} });
      expect(pod.links().map(({ name, master }) => [name, master])).toEqual([
        ["net1", undefined],
        ["net2", undefined],
      ]);
      const answer = links.valueOf(await capability.apply(bonding));
      expect(answer.map(({ name, master, kind }) => [name, master, kind])).toEqual([
        ["eth0", undefined, "bond"],
        ["net1", "eth0", "veth"],
        ["net2", "eth0", "veth"],
      ]);
    },
  );

  interface VlansOfPort {
    readonly ifname: string;
    readonly vlans: readonly { readonly vlan: number; readonly vlanEnd?: number; readonly flags?: readonly string[] }[];
  }

  function vlansOf(name: string): readonly string[] {
    const ports: VlansOfPort[] = JSON.parse(links.node.exec(["bridge", "-c", "-j", "vlan", "show"]).stdout);
    const vlans = ports.find(({ ifname }) => ifname === name)?.vlans ?? [];
    return vlans.flatMap(({ vlan, vlanEnd = vlan, flags = [] }) =>
      Array.from({ length: vlanEnd - vlan + 1 }, (_, more) => [vlan + more, ...flags].join(" ")),
    );
  }

  describe.skipIf(missing("VLANs of ports", vlanFiltering))("a bridge with VLAN filtering", () => {
    const trunk = { first: 100, last: 110, pvid: false, untagged: false };
    const access = { first: 5, last: 5, pvid: true, untagged: true };
    const attach = (keepDefaultVlan = false): LinksOperation[] => [
      { tag: "ensure-bridge", val: { name: "lt0", vlanFiltering: true, defaultPvid: 3 } },
      {
        tag: "add-veth",
        val: {
          name: "eth0",
          hostName: "vethlt0",
          master: "lt0",
          vlans: [access, trunk],
          keepDefaultVlan,
          up: true,
          port: { isolated: true },
        },
      },
    ];

    test("gives its ports the requested VLANs, in place of the default VLAN or besides it", async () => {
      const { capability } = links.capability({ pod, grant });
      const answer = links.valueOf(await capability.apply(attach()));
      expect(vlansOf("vethlt0")).toEqual(["5 PVID Egress Untagged", ...numbers(100, 110)]);
      expect(answer.find(({ name }) => name === "vethlt0")).toMatchObject({
        portVlans: [access, trunk],
        port: { isolated: true },
      });
      expect(answer.find(({ name }) => name === "lt0")).toMatchObject({ vlanFiltering: true });
      const again = links.capability({ pod, grant, verb: "CHECK" });
      expect(links.valueOf(await again.capability.read([onNode("vethlt0")]))).toMatchObject([
        { portVlans: [access, trunk], peer: "eth0" },
      ]);
      links.valueOf(await capability.apply([{ tag: "delete-link", val: inPod("eth0") }]));
      links.valueOf(await capability.apply(attach(true)));
      expect(vlansOf("vethlt0")).toEqual(["3 Egress Untagged", "5 PVID Egress Untagged", ...numbers(100, 110)]);
    });

    test("gets VLAN filtering enabled if it exists without, and disabled if the call fails", async () => {
      links.ip("link add lt0 type bridge");
      // In two messages: with one, the bridge gets a link-local address all the same, whose routes come later.
      links.ip("link set lt0 addrgenmode none");
      links.ip("link set lt0 up");
      const { capability } = links.capability({ pod, grant });
      const before = snapshot(links.node.path);
      const change: LinksOperation = { tag: "ensure-bridge", val: { name: "lt0", vlanFiltering: true, defaultPvid: 0 } };
      expect(await capability.apply([change, refused])).toMatchObject({ err: {} });
      expect(snapshot(links.node.path)).toEqual(before);
      links.valueOf(await capability.apply([change]));
      expect(kindOf("lt0", links.node)).toMatchObject({ info_data: { vlan_filtering: 1, vlan_default_pvid: 0 } });
    });

    test("gets VLANs of a port and of itself added and removed, and restored in the undo", async () => {
      const { capability } = links.capability({ pod, grant });
      links.valueOf(await capability.apply(attach()));
      const changes: LinksOperation[] = [
        { tag: "add-port-vlan", val: { link: "vethlt0", vlan: { first: 200, last: 201, pvid: false, untagged: true } } },
        { tag: "delete-port-vlan", val: { link: "vethlt0", vlan: { ...trunk, last: 105 } } },
        { tag: "delete-port-vlan", val: { link: "vethlt0", vlan: access } },
        { tag: "add-port-vlan", val: { link: "lt0", vlan: { first: 5, last: 5, pvid: false, untagged: false } } },
      ];
      const before = [vlansOf("vethlt0"), vlansOf("lt0")];
      const second = links.capability({ pod, grant });
      expect(await second.capability.apply([...changes, refused])).toMatchObject({ err: {} });
      expect([vlansOf("vethlt0"), vlansOf("lt0")]).toEqual(before);
      links.valueOf(await second.capability.apply(changes));
      expect(vlansOf("vethlt0")).toEqual([...numbers(106, 110), "200 Egress Untagged", "201 Egress Untagged"]);
      expect(vlansOf("lt0")).toEqual(["3 PVID Egress Untagged", "5"]);
    });

    test("gives VLANs to an uplink only while that is its port", async () => {
      const { capability } = links.capability({ pod, grant });
      const bridge: LinksOperation = { tag: "ensure-bridge", val: { name: "lt0", vlanFiltering: true } };
      const pass: LinksOperation = {
        tag: "add-port-vlan",
        val: { link: "dev1", vlan: { first: 9, last: 9, pvid: false, untagged: false } },
      };
      expect(await capability.apply([bridge, pass])).toMatchObject({ err: { code: 7 } });
      links.valueOf(await capability.apply([bridge, join("lt0"), pass]));
      expect(vlansOf("dev1")).toEqual(["1 PVID Egress Untagged", "9"]);
      links.valueOf(await capability.apply([bridge, { ...pass, tag: "delete-port-vlan" }]));
      expect(vlansOf("dev1")).toEqual(["1 PVID Egress Untagged"]);
    });

    test("gets one gateway for a VLAN from several concurrent applies", async () => {
      const pods = Array.from({ length: 6 }, () => createPodNamespace("gateway"));
      const gateway: LinksOperation[] = [
        { tag: "ensure-bridge", val: { name: "lt0", vlanFiltering: true } },
        { tag: "ensure-vlan-gateway", val: { bridge: "lt0", id: 5, keepDefaultVlan: false } },
        { tag: "ensure-address", val: { link: onNode("lt0.5"), address: "10.5.0.1/24", replace: false } },
      ];
      const all = await Promise.all(pods.map((each) => links.capability({ pod: each, grant }).capability.apply(gateway)));
      for (const outcome of all) links.valueOf(outcome);
      expect(links.node.addresses().filter(({ link }) => link === "lt0.5")).toContainEqual({
        link: "lt0.5",
        address: "10.5.0.1/24",
        scope: "global",
      });
      expect(links.node.links().filter(({ master }) => master === "lt0")).toHaveLength(1);
      for (const each of pods) each.dispose();
    });

    test("gets one gateway for a VLAN, with an address, and loses it in the undo", async () => {
      const { capability } = links.capability({ pod, grant });
      const bridge: LinksOperation = { tag: "ensure-bridge", val: { name: "lt0", vlanFiltering: true } };
      links.valueOf(await capability.apply([bridge]));
      const gateway: LinksOperation[] = [
        bridge,
        { tag: "ensure-vlan-gateway", val: { bridge: "lt0", id: 5, mtu: 1400, keepDefaultVlan: false } },
        { tag: "ensure-address", val: { link: onNode("lt0.5"), address: "10.5.0.1/24", replace: false } },
      ];
      const before = links.node.links();
      expect(await capability.apply([...gateway, refused])).toMatchObject({ err: {} });
      expect(links.node.links()).toEqual(before);
      const answer = links.valueOf(await capability.apply(gateway));
      const gatewayLink = answer.find(({ name }) => name === "lt0.5");
      expect(gatewayLink).toMatchObject({ kind: "veth", up: true, mtu: 1400 });
      expect(vlansOf(gatewayLink?.peer ?? "")).toEqual(["5 PVID Egress Untagged"]);
      expect(links.node.addresses()).toContainEqual({ link: "lt0.5", address: "10.5.0.1/24", scope: "global" });
      const count = links.node.links().length;
      links.valueOf(await capability.apply(gateway));
      expect(links.node.links()).toHaveLength(count);
    });
  });

  test("an uplink becomes the port of a granted bridge only", async () => {
    const { capability } = links.capability({ pod, grant });
    links.ip("link add lt1 type bridge");
    const bridge: LinksOperation = { tag: "ensure-bridge", val: { name: "lt0", vlanFiltering: false } };
    expect(await capability.apply([bridge, join("lt1")])).toMatchObject({ err: { code: 7 } });
    expect(await capability.apply([bridge, join("lt0"), refused])).toMatchObject({ err: {} });
    expect(links.node.links().find(({ name }) => name === "dev1")).toMatchObject({ master: undefined });
    links.valueOf(await capability.apply([bridge, join("lt0")]));
    expect(links.node.links().find(({ name }) => name === "dev1")).toMatchObject({ master: "lt0" });
  });
});
