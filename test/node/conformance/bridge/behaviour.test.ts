// The behaviour that the tests of the reference plugin describe (plugins/main/bridge/bridge_test.go), shown for the delegate bridge-adapter
// through the installed binary and a daemon, in network namespaces. The test code is independent of the reference's.

import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../../lab/daemon.ts";
import { installPlexus, missingBuild, type Answer, type Installation } from "../../../lab/plexus.ts";
import {
  command,
  iproute2,
  linkType,
  missing,
  privateNamespaces,
  referencePlugin,
  referencePlugins,
  type Requirement,
} from "../../../lab/requires.ts";
import type { Scenario } from "./configurations.ts";
import { installPlugins, Lane, type Attachment } from "./lane.ts";

const build = (): string | undefined => missingBuild({ components: ["bridge-adapter", "ipam-host-local"] });
const wanted = [
  privateNamespaces,
  iproute2,
  linkType("veth"),
  linkType("bridge"),
  referencePlugins("bridge", "host-local"),
  build,
];
const vlanFiltering: Requirement = () =>
  spawnSync("unshare", ["--net", "ip", "link", "add", "b0", "type", "bridge", "vlan_filtering", "1"], { stdio: "ignore" })
    .status === 0
    ? undefined
    : "the kernel's bridges have no vlan_filtering";

const v4 = { subnet: "10.1.0.0/24" };
const v6 = { subnet: "fd00:1::/64" };
const families = [
  ["IPv4", [[v4]], ["10.1.0.1/24"]],
  ["IPv6", [[v6]], ["fd00:1::1/64"]],
  ["both families", [[v4], [v6]], ["10.1.0.1/24", "fd00:1::1/64"]],
] as const;

function network(bridge: object = {}, ipam: object = { ranges: [[v4]] }, more: Partial<Scenario> = {}): Scenario {
  return {
    bridge: { bridge: "br7", ...bridge },
    ipam: { ...ipam },
    cniVersion: "1.0.0",
    args: undefined,
    before: "",
    inPod: "",
    ...more,
  };
}

function layer2(bridge: object = {}, more: Partial<Scenario> = {}): Scenario {
  return { ...network(bridge, {}, more), ipam: undefined };
}

/** The VLANs of the pod's bridge port in the format of bridge(8). */
async function portVlans({ node, atNode }: Lane): Promise<string> {
  const port = node.links().find(({ master, name }) => master === "br7" && name.startsWith("veth"));
  const shown = await atNode.output(`bridge -compressvlans vlan show dev ${port?.name} | tail -n +2`);
  return shown.replaceAll(/\s+/g, " ").trim().replace(/^\S+ /, "");
}

/** Repeats a ping, because duplicate address detection of the node's new IPv6 address takes two seconds. */
function pingRepeatedly({ pod }: Lane, address: string): boolean {
  return [1, 2, 3, 4, 5].some(() => pod.ping(address));
}

describe.skipIf(missing("behaviour of bridge-adapter", ...wanted))("bridge-adapter", () => {
  let plexus: Installation;
  let daemon: TestDaemon;
  let lane: Lane;
  let calls = 0;
  beforeAll(async () => {
    plexus = installPlexus();
    installPlugins(plexus, dirname(referencePlugin("bridge") ?? "/bridge"));
    const socket = join(plexus.directory, "run", "plexus.sock");
    mkdirSync(dirname(socket));
    daemon = await startDaemon({ socket });
    lane = new Lane(plexus, "behaviour", socket);
  });
  afterEach(() => lane.clear());
  afterAll(async () => {
    lane?.close();
    await daemon?.stop();
    plexus?.dispose();
  });

  const attachment = (scenario: Scenario, more: Partial<Attachment> = {}): Attachment => ({
    scenario,
    containerId: `pod-${calls++}`,
    ...more,
  });
  async function succeed(verb: string, one: Attachment): Promise<Answer> {
    const { scenario } = one;
    if (verb === "ADD" && scenario.before !== "") await lane.atNode.output(scenario.before);
    const answer = await lane.call(verb, one, "wasm");
    expect({ verb, status: answer.status, error: answer.status === 0 ? "" : answer.stdout }).toEqual({
      verb,
      status: 0,
      error: "",
    });
    return answer;
  }
  async function added(
    scenario: Scenario,
    more: Partial<Attachment> = {},
  ): Promise<{ readonly one: Attachment; readonly json: Answer["json"] }> {
    const one = attachment(scenario, more);
    return { one, json: (await succeed("ADD", one)).json };
  }
  const link = (name: string): { readonly mac: string; readonly master: string | undefined } | undefined =>
    lane.node.links().find((each) => each.name === name);
  const nodeAddresses = (): readonly string[] => lane.node.addresses().map(({ address }) => address);

  test("creates a bridge", async () => {
    await added(layer2({ mtu: 1300 }));
    expect(lane.node.links()).toContainEqual(expect.objectContaining({ name: "br7", up: true, mtu: 1300 }));
    expect(await lane.atNode.output("cat /proc/sys/net/ipv6/conf/br7/accept_ra")).toBe("0\n");
  });

  test("keeps the MAC and the settings of an existing bridge", async () => {
    const before = "ip link add br7 address 02:11:00:00:00:07 type bridge ageing_time 800";
    await added(layer2({}, { before }));
    expect(link("br7")).toMatchObject({ mac: "02:11:00:00:00:07", up: true });
    expect(await lane.atNode.output("ip -d link show br7")).toContain("ageing_time 800");
  });

  test.each(families)(
    "configures and deconfigures a bridge and veth with default route of %s: ADD, CHECK, DEL",
    async (_name, ranges, gateways) => {
      const { one, json } = await added(network({ isDefaultGateway: true }, { ranges }));
      expect(nodeAddresses()).toEqual(expect.arrayContaining([...gateways]));
      expect(json).toMatchObject({
        interfaces: [{ name: "br7" }, { name: expect.stringMatching(/^veth/) }, { name: "eth0", sandbox: lane.pod.path }],
      });
      for (const gateway of gateways) {
        const family = gateway.includes(":") ? 6 : 4;
        expect(lane.pod.routes(family)).toContain("default");
        expect(pingRepeatedly(lane, gateway.slice(0, gateway.indexOf("/")))).toBe(true);
      }
      await succeed("CHECK", one);
      await succeed("DEL", one);
      expect({
        pod: lane.pod.links(),
        veths: lane.node.links().filter(({ name }) => name !== "br7"),
        leases: lane.leases(one),
      }).toEqual({ pod: [], veths: [], leases: [] });
      expect(nodeAddresses()).toEqual(expect.arrayContaining([...gateways]));
    },
  );

  test("configures and deconfigures a layer 2 bridge and veth: ADD, DEL", async () => {
    const { one, json } = await added(layer2());
    expect(json).toMatchObject({ interfaces: [{ name: "br7" }, {}, { name: "eth0" }] });
    expect(json?.["ips"] ?? []).toEqual([]);
    expect(lane.pod.links()).toMatchObject([{ name: "eth0", up: true }]);
    await succeed("DEL", one);
    expect(lane.pod.links()).toEqual([]);
  });

  test("DEL succeeds repeatedly, with an absent namespace and without a namespace", async () => {
    const { one } = await added(network());
    for (const netns of [undefined, undefined, "/run/netns/gone", ""])
      await succeed("DEL", netns === undefined ? one : { ...one, netns });
    expect(lane.leases(one)).toEqual([]);
  });

  test("DEL releases the address after the pod's namespace was deleted", async () => {
    const { one } = await added(network());
    expect(lane.leases(one)).toHaveLength(1);
    await succeed("DEL", { ...one, netns: "/run/netns/gone" });
    expect(lane.leases(one)).toEqual([]);
  });

  test("refuses a bridge with another address, and replaces that address with forceAddress", async () => {
    const before = "ip link add br7 type bridge && ip link set br7 up && ip addr add 10.9.0.1/24 dev br7";
    const refused = attachment(network({ isGateway: true }));
    await lane.atNode.output(before);
    const answer = await lane.call("ADD", refused, "wasm");
    expect(answer).toMatchObject({ status: 1, json: { msg: expect.stringContaining("10.9.0.1/24") } });
    expect([nodeAddresses(), lane.node.links().length, lane.pod.links(), lane.leases(refused)]).toEqual([
      ["10.9.0.1/24"],
      1,
      [],
      [],
    ]);
    await added(network({ isGateway: true, forceAddress: true }));
    expect(nodeAddresses()).toEqual(["10.1.0.1/24"]);
  });

  test("keeps the bridge's IPv6 addresses of other networks", async () => {
    const before = "ip link add br7 type bridge && ip link set br7 up && ip addr add fd00:9::1/64 dev br7 nodad";
    await added(network({ isGateway: true }, { ranges: [[v6]] }, { before }));
    expect(nodeAddresses().toSorted()).toEqual(["fd00:1::1/64", "fd00:9::1/64"]);
  });

  test("ensures promiscuous mode on the bridge", async () => {
    const { one } = await added(network({ promiscMode: true }));
    expect(await lane.atNode.output("ip -d link show br7")).toContain("PROMISC");
    await succeed("CHECK", one);
    await lane.atNode.output("ip link set br7 promisc off");
    const checked = await lane.call("CHECK", one, "wasm");
    expect(checked).toMatchObject({ status: 1, json: { msg: expect.stringContaining("is not promiscuous") } });
  });

  test.each([
    ["a new bridge", ""],
    ["an existing bridge", "ip link add br7 type bridge && ip link set br7 up"],
  ])("%s keeps its MAC address when ports are added", async (_name, before) => {
    const pods = [lane.pod, lane.other(), lane.other()];
    const scenario = network({ isGateway: true }, { ranges: [[v4]] }, { before });
    if (before !== "") await lane.atNode.output(before);
    const macs: (string | undefined)[] = [];
    for (const pod of pods) {
      const { json } = await added({ ...scenario, before: "" }, { netns: pod.path });
      macs.push(link("br7")?.mac);
      expect(json).toMatchObject({ interfaces: [{ mac: link("br7")?.mac }, {}, {}] });
    }
    await lane.atNode.output(
      "ip link add aa type veth peer name bb && ip link set aa address 00:00:00:00:00:02 && ip link set aa up master br7",
    );
    expect(new Set([...macs, link("br7")?.mac]).size).toBe(1);
  });

  test.each([
    ["CNI_ARGS", {}, "IgnoreUnknown=1;MAC=02:11:00:00:00:01", "02:11:00:00:00:01"],
    ["args", { args: { cni: { mac: "02:11:00:00:00:02" } } }, "IgnoreUnknown=1;MAC=02:11:00:00:00:01", "02:11:00:00:00:02"],
    [
      "runtimeConfig",
      { runtimeConfig: { mac: "02-11-00-00-00-03" }, args: { cni: { mac: "02:11:00:00:00:02" } } },
      "IgnoreUnknown=1;MAC=02:11:00:00:00:01",
      "02:11:00:00:00:03",
    ],
  ])("uses an explicit MAC address for the pod's interface (from %s)", async (_name, bridge, args, mac) => {
    const { json } = await added(network(bridge, undefined, { args }));
    expect(lane.pod.links()).toMatchObject([{ name: "eth0", mac }]);
    expect(json).toMatchObject({ interfaces: [{}, {}, { mac }] });
  });

  test("releases the address after an error, and leaves no link", async () => {
    await lane.atPod.output("ip link add eth0 type bridge");
    const one = attachment(network({ isGateway: true }));
    const answer = await lane.call("ADD", one, "wasm");
    expect(answer).toMatchObject({ status: 1, json: { msg: expect.stringContaining("eth0") } });
    expect([lane.leases(one), lane.node.links()]).toEqual([[], []]);
  });

  test("fails when both IPAM and disableContainerInterface are set", async () => {
    const one = attachment(network({ disableContainerInterface: true }));
    expect(await lane.call("ADD", one, "wasm")).toMatchObject({ status: 1, json: { code: 7 } });
    expect([lane.leases(one), lane.node.links()]).toEqual([[], []]);
  });

  test("sets the pod's end down with disableContainerInterface", async () => {
    await added(layer2({ disableContainerInterface: true }));
    expect(lane.pod.links()).toMatchObject([{ name: "eth0", up: false }]);
  });

  test.each([
    ["off", false],
    ["on", true],
  ])("with portIsolation the isolation of the node's veth end is %s", async (state, portIsolation) => {
    await added(layer2({ portIsolation }));
    const port = lane.node.links().find(({ master }) => master === "br7");
    expect(await lane.atNode.output(`ip -d link show ${port?.name}`)).toContain(`isolated ${state}`);
  });

  test("macspoofchk drops the pod's frames with another MAC, not those of other pods", async () => {
    const scenario = network({ isDefaultGateway: true, macspoofchk: true });
    const { one } = await added(scenario);
    const other = lane.other();
    const beside = await added(
      { ...scenario, ipam: { ranges: [[{ subnet: "10.1.0.0/24", rangeStart: "10.1.0.9" }]] } },
      { netns: other.path },
    );
    await succeed("CHECK", one);
    expect(lane.pod.ping("10.1.0.1")).toBe(true);
    const mac = lane.pod.links()[0]?.mac;
    await lane.atPod.output("ip link set eth0 address 02:11:00:00:00:66");
    expect(lane.pod.ping("10.1.0.1")).toBe(false);
    expect(other.ping("10.1.0.1")).toBe(true);
    await lane.atPod.output(`ip link set eth0 address ${mac}`);
    await lane.atNode.run("ip neighbour flush dev br7");
    expect(lane.pod.ping("10.1.0.1")).toBe(true);
    for (const each of [one, beside.one]) await succeed("DEL", each);
  });

  test.skipIf(missing("nft rules of macspoofchk", command("nft", "--version")))(
    "macspoofchk: DEL removes only the pod's rules, and CHECK fails after the rules were removed",
    async () => {
      const scenario = network({ macspoofchk: true });
      const [one, beside] = [await added(scenario), await added(scenario, { netns: lane.other().path })];
      await succeed("DEL", one.one);
      const left = await lane.atNode.output("nft list table bridge plexus");
      expect([left.includes(one.one.containerId), left.includes(beside.one.containerId)]).toEqual([false, true]);
      await lane.atNode.output("nft flush ruleset");
      const checked = await lane.call("CHECK", beside.one, "wasm");
      expect(checked).toMatchObject({ status: 1, json: { msg: expect.stringContaining("keep the pod to its MAC") } });
      await succeed("DEL", beside.one);
    },
  );

  test.each([
    ["vlan", { vlan: 4095 }],
    ["vlan", { vlan: -1 }],
    ["minID", { vlanTrunk: [{ minID: 0, maxID: 5 }] }],
    ["maxID", { vlanTrunk: [{ minID: 5, maxID: 4095 }] }],
    ["minID", { vlanTrunk: [{ minID: 6, maxID: 5 }] }],
    ["minID", { vlanTrunk: [{ maxID: 5 }] }],
    ["maxID", { vlanTrunk: [{ minID: 5 }] }],
    ["id", { vlanTrunk: [{ id: 0 }] }],
  ])("refuses invalid VLANs: %s of %j", async (field, bridge) => {
    const answer = await lane.call("ADD", attachment(layer2(bridge)), "wasm");
    expect(answer).toMatchObject({ status: 1, json: { code: 7, msg: expect.stringContaining(field) } });
  });

  describe.skipIf(missing("VLANs of bridge-adapter", vlanFiltering))("with VLANs", () => {
    test.each([
      ["VLAN 100", { vlan: 100, preserveDefaultVlan: true }, "1 Egress Untagged 100 PVID Egress Untagged"],
      ["VLAN 100 and no default VLAN", { vlan: 100 }, "100 PVID Egress Untagged"],
      [
        "a trunk of 101 and 200 to 202",
        { vlanTrunk: [{ id: 101 }, { minID: 200, maxID: 202 }] },
        "1 PVID Egress Untagged 101 200-202",
      ],
      ["VLAN 100 and a trunk", { vlan: 100, vlanTrunk: [{ id: 101 }] }, "100 PVID Egress Untagged 101"],
    ])("configures and deconfigures a layer 2 bridge with %s", async (_name, bridge, shown) => {
      const { one } = await added(layer2(bridge));
      expect(await portVlans(lane)).toBe(shown);
      await succeed("DEL", one);
    });

    test("configures and deconfigures a bridge and veth with default route in VLAN 100", async () => {
      const { one, json } = await added(network({ vlan: 100, isDefaultGateway: true }));
      expect(json).toMatchObject({ interfaces: [{ name: "br7" }, {}, { name: "eth0" }, { name: "br7.100" }] });
      expect(lane.node.addresses()).toContainEqual(expect.objectContaining({ link: "br7.100", address: "10.1.0.1/24" }));
      expect(lane.pod.ping("10.1.0.1")).toBe(true);
      await succeed("DEL", one);
    });
  });
});
