// Repair by components: links above a master that is made anew, and a port of a real Open vSwitch. A daemon in this process, an agent, and real namespaces.

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ok } from "../../../src/fault/result.ts";
import { type Manifests, manifestsIn } from "../../lab/manifests.ts";
import { bridgeStep, missingForMixed, mixedInstallation } from "../../lab/mixed-network.ts";
import { linkType, missing } from "../../lab/requires.ts";
import { ReconcileNode } from "../../lab/reconcile-node.ts";
import { missingKernelDatapath, missingOpenVswitch, type OpenVswitch, startOpenVswitch } from "../../lab/neutron/open-vswitch.ts";
import { leases } from "../../lab/namespaces.ts";
import type { Attaching, Stage } from "../../lab/stage.ts";

type Attached = Attaching & { readonly pod: ReturnType<Stage["pod"]> };

const soon = { interval: 100, timeout: 60_000 };
const ipam = "ipam-host-local";

/** The state of net1 in a pod: everything but the link's index. */
const shape = ({ pod }: Attached): object => ({
  links: pod.links().flatMap(({ name, mac, mtu, up }) => (name === "net1" ? [{ mac, mtu, up }] : [])),
  addresses: pod.addresses().flatMap(({ link, address }) => (link === "net1" ? [address] : [])),
  routes: pod.exec(["ip", "route", "show", "dev", "net1"]).stdout.replaceAll(/\s+(proto|scope) \w+/gu, ""),
});

/** `3:` of net1, which another link does not get. */
const indexOf = ({ pod }: Attached): string => pod.exec(["ip", "-o", "link", "show", "net1"]).stdout.split(" ")[0] ?? "";

describe.skipIf(missingForMixed("repair by components"))("the repair of a component's link", () => {
  let node: ReconcileNode;
  let stage: Stage;
  let manifests: Manifests;
  beforeAll(async () => {
    node = new ReconcileNode({ ...mixedInstallation, components: [ipam, "static", "macvlan", "ipvlan", "vlan", "ovs"] });
    ({ stage } = node);
    manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
    await node.start();
    await node.startAgent();
  });
  afterAll(() => node.dispose());

  const sentence = (): string => node.daemon.residents.sentences.find(({ name }) => name === "linkWatch")?.sentence() ?? "";

  /** The node's ends of veths in the datapath of Open vSwitch. */
  const members = (): readonly string[] =>
    stage.node.links().flatMap(({ name, master }) => (master === "ovs-system" && name !== "br-int" ? [name] : []));

  /** Attaches a pod with one further network of the component. */
  async function attached(type: string, step: object, grant: object): Promise<Attached> {
    const subnet = "10.40.0.0/24";
    const routes = [{ dst: "10.140.0.0/24", gw: "10.40.0.1" }];
    const plugins = [{ type, ...step, ipam: { type: ipam, subnet, routes, dataDir: stage.leases } }];
    manifests.network(type, plugins);
    manifests.pod(`of-${type}`, type);
    const grants = {
      [ipam]: { leases: { directories: [stage.leases] }, resolver: {}, log: {} },
      static: { log: {} },
      [type]: { delegation: { plugins: [ipam, "static"] }, log: {}, ...grant },
    };
    const linkWatch = { repair: true };
    const config = stage.network([bridgeStep()], { manifests: manifests.directory, hotPlug: true, linkWatch, wasm: { grants } });
    const pod = { config, containerId: `of-${type}`, pod: stage.pod(), args: manifests.argsOf(`of-${type}`) };
    await node.succeed("ADD", pod);
    await expect.poll(() => sentence(), soon).toMatch(/^on; [1-9]\d* links watched, 0 lost$/u);
    return pod;
  }

  async function end(pod: Attached): Promise<void> {
    await node.succeed("CHECK", pod);
    await node.succeed("DEL", pod);
    expect([pod.pod.links().length, leases(stage.leases)]).toEqual([0, []]);
  }

  describe.each(["macvlan", "ipvlan", "vlan"] as const)("of the kind %s", (kind) => {
    test.skipIf(missing(`repair of ${kind}`, linkType(kind)))(
      "WA-02 WA-03: is attached again above a master that is made anew",
      async () => {
        const makeMaster = (): unknown => stage.node.exec(["sh", "-c", "ip link add low1 type bridge && ip link set low1 up"]);
        makeMaster();
        const pod = await attached(
          kind,
          { master: "low1", ...(kind === "vlan" ? { vlanId: 7 } : {}) },
          { links: { parents: ["low1"] } },
        );
        // An ipvlan has the hardware address of its master, and the new master has another one.
        const shown = (): object => (kind === "ipvlan" ? { ...shape(pod), links: pod.pod.links().length } : shape(pod));
        const [before, earlier, held] = [shown(), indexOf(pod), leases(stage.leases)];
        expect(before).toMatchObject({ routes: expect.stringContaining("10.140.0.0/24") });
        stage.node.exec(["ip", "link", "del", "low1"]);
        await expect.poll(() => sentence(), soon).toContain("net1 no longer exists in the pod's network namespace");
        makeMaster();
        await expect.poll(shown, soon).toEqual(before);
        await expect.poll(() => sentence(), soon).toMatch(/ watched, 0 lost$/u);
        expect([indexOf(pod) === earlier, leases(stage.leases)]).toEqual([false, held]);
        await end(pod);
        stage.node.exec(["ip", "link", "del", "low1"]);
      },
    );
  });

  test("WA-03: a link that is lost while the pod's ADD runs is not attached again before the ADD has ended", async () => {
    const [gate, begun] = ["gate", "begun"].map((name) => join(stage.plexus.directory, name));
    const program = `#!${process.execPath}
const { existsSync, readFileSync, writeFileSync } = require("node:fs");
const { cniVersion, prevResult } = JSON.parse(readFileSync(0, "utf8"));
const answer = () => console.log(JSON.stringify(prevResult ?? { cniVersion, interfaces: [] }));
if (process.env.CNI_COMMAND !== "ADD") answer();
else {
  writeFileSync(${JSON.stringify(begun)}, "");
  const timer = setInterval(() => existsSync(${JSON.stringify(gate)}) && (clearInterval(timer), answer()), 20);
}`;
    writeFileSync(join(stage.plexus.cniPath, "gated"), program, { mode: 0o755 });
    const network = { type: ipam, subnet: "10.50.0.0/24", dataDir: stage.leases };
    manifests.network("first", [{ type: "bridge", bridge: "br-first", ipam: network }]);
    manifests.network("second", [{ type: "gated" }]);
    manifests.pod("of-both", "first,second");
    const grants = { [ipam]: { leases: { directories: [stage.leases] }, resolver: {}, log: {} }, static: { log: {} } };
    const more = { manifests: manifests.directory, hotPlug: true, linkWatch: { repair: true }, wasm: { grants } };
    const config = stage.network([bridgeStep()], more);
    const pod = { config, containerId: "of-both", pod: stage.pod(), args: manifests.argsOf("of-both") };
    const added = node.succeed("ADD", pod);
    await expect.poll(() => existsSync(begun ?? ""), soon).toBe(true);
    const before = shape(pod);
    pod.pod.exec(["ip", "link", "del", "net1"]);
    const early = node.daemon.residents.changes.repair("of-both", "net1", async () => ok(true));
    expect(await early).toMatchObject({ ok: false });
    expect(pod.pod.links().map(({ name }) => name)).not.toContain("net1");
    writeFileSync(gate ?? "", "");
    await added;
    await expect.poll(() => shape(pod), soon).toEqual(before);
    await node.succeed("DEL", pod);
  });

  describe.skipIf(missing("repair of a port of Open vSwitch", missingOpenVswitch))("of a port of Open vSwitch", () => {
    let ovs: OpenVswitch;
    beforeAll(async () => {
      ovs = await startOpenVswitch();
      ovs.vsctl("add-br", "br-int", "--", "set", "bridge", "br-int", "datapath_type=dummy");
      await ovs.startVswitchd();
    });
    afterAll(() => ovs?.dispose());

    const ports = (): readonly string[] => ovs.vsctl("list-ports", "br-int").split("\n").filter(Boolean);

    test("WA-03: a lost veth is attached again as one port with the same VLAN", async () => {
      const grant = { links: {}, ovs: { bridges: ["br-int"], vlans: ["100"], socket: ovs.socket } };
      const pod = await attached("ovs", { bridge: "br-int", vlan: 100 }, grant);
      const [before, held] = [shape(pod), leases(stage.leases)];
      pod.pod.exec(["ip", "link", "del", "net1"]);
      node.daemon.residents.agentConnected();
      await expect.poll(() => shape(pod), soon).toEqual(before);
      await expect.poll(() => sentence(), soon).toMatch(/ watched, 0 lost$/u);
      const [port = "", ...others] = ports();
      expect([others, ovs.vsctl("get", "port", port, "tag"), leases(stage.leases)]).toEqual([[], "100", held]);
      await end(pod);
      expect(ports()).toEqual([]);
    });
  });

  const inKernel = missing("repair of a port of the kernel's datapath", missingOpenVswitch, missingKernelDatapath);
  describe.skipIf(inKernel)("of a port of Open vSwitch in the kernel's datapath", () => {
    let ovs: OpenVswitch;
    beforeAll(async () => {
      ovs = await startOpenVswitch();
      ovs.vsctl("add-br", "br-int");
      await ovs.startVswitchd(stage.node.path);
    });
    afterAll(() => ovs?.dispose());

    const ports = (): readonly string[] => ovs.vsctl("list-ports", "br-int").split("\n").filter(Boolean);
    test("WA-02 WA-03 WA-05: a port that is removed, and a bridge that is made anew, get the pod's interface again, also if no daemon runs then", async () => {
      await expect.poll(() => stage.node.links().map(({ name }) => name), soon).toContain("br-int");
      const grant = { links: {}, ovs: { bridges: ["br-int"], vlans: ["100"], socket: ovs.socket } };
      const pod = await attached("ovs", { bridge: "br-int", vlan: 100 }, grant);
      await expect.poll(members, soon).toHaveLength(1);
      const [before, held] = [shape(pod), leases(stage.leases)];
      const isAttached = (): readonly unknown[] => [
        shape(pod),
        members(),
        ports().map((port) => ovs.vsctl("get", "port", port, "tag")),
      ];
      for (const [isAway, ...change] of [
        [false, "del-port", "br-int"],
        [false, "del-br", "br-int"],
        // WA-05: no daemon sees the change.
        [true, "del-port", "br-int"],
        [true, "del-br", "br-int"],
      ] as const) {
        const [earlier = ""] = members();
        if (isAway) await node.stopDaemon();
        ovs.vsctl(...change, ...(change[0] === "del-port" ? ports() : []));
        await expect.poll(members, soon).not.toContain(earlier);
        if (isAway) await node.start();
        ovs.vsctl("--may-exist", "add-br", "br-int");
        await expect.poll(isAttached, soon).toEqual([before, [expect.not.stringMatching(`^${earlier}$`)], ["100"]]);
        await expect.poll(() => sentence(), soon).toMatch(/ watched, 0 lost$/u);
      }
      expect(leases(stage.leases)).toEqual(held);
      await end(pod);
      expect(ports()).toEqual([]);
    });
  });
});
