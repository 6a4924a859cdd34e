// Lost and changed links of pods' further networks: a daemon in this process, an agent, and real namespaces.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Manifests, manifestsIn } from "../../lab/manifests.ts";
import { bridgeStep, missingForMixed, mixedInstallation } from "../../lab/mixed-network.ts";
import { referencePlugins, missing } from "../../lab/requires.ts";
import { ReconcileNode } from "../../lab/reconcile-node.ts";
import { leases } from "../../lab/namespaces.ts";
import type { Attaching, Stage } from "../../lab/stage.ts";

type Attached = Attaching & { readonly pod: ReturnType<Stage["pod"]>; readonly containerId: string };

const soon = { interval: 100, timeout: 60_000 };
const unable = missingForMixed("link-watch") || missing("link-watch", referencePlugins("static"));

/** The state of one of a pod's links, without its index. */
const shape = ({ pod }: Attached, name: string): object => ({
  macs: pod.links().flatMap((link) => (link.name === name ? [link.mac] : [])),
  addresses: pod.addresses().flatMap(({ link, address }) => (link === name ? [address] : [])),
  routes: pod
    .exec(["ip", "route", "show", "dev", name])
    .stdout.trim()
    .split("\n")
    .map((line) => line.split(" ")[0]),
});

/** `3:` of net1, which another link does not get. */
const indexOf = ({ pod }: Attached): string => pod.exec(["ip", "-o", "link", "show", "net1"]).stdout.split(" ")[0] ?? "";

describe.skipIf(unable)("the watch over links", () => {
  let node: ReconcileNode;
  let stage: Stage;
  let manifests: Manifests;
  beforeAll(async () => {
    node = new ReconcileNode({ ...mixedInstallation, native: [...mixedInstallation.native, "static"] });
    ({ stage } = node);
    manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
    await node.start();
    await node.startAgent();
    const ipam = (subnet: string): object => ({
      type: "host-local",
      ranges: [[{ subnet }]],
      routes: [{ dst: subnet.replace("10.", "10.1"), gw: subnet.replace("0/24", "1") }],
      dataDir: stage.leases,
    });
    manifests.network("storage", [{ type: "bridge", bridge: "br-storage", ipam: ipam("10.20.0.0/24") }]);
    makeMaster();
    manifests.network("fast", [{ type: "macvlan", master: "low0", ipam: ipam("10.30.0.0/24") }]);
  });
  afterAll(() => node.dispose());

  let serial = 0;
  async function attached(selection: string, linkWatch: object = {}): Promise<Attached> {
    const name = `watched-${++serial}`;
    manifests.pod(name, selection);
    const config = stage.network([bridgeStep()], { manifests: manifests.directory, hotPlug: true, linkWatch });
    const pod = { config, containerId: name, pod: stage.pod(), args: manifests.argsOf(name) };
    await node.succeed("ADD", pod);
    await expect.poll(() => sentence(), soon).toMatch(/^on; [1-9]\d* links watched/u);
    return pod;
  }
  const sentence = (): string => node.daemon.residents.sentences.find(({ name }) => name === "linkWatch")?.sentence() ?? "";
  const makeMaster = (): unknown => stage.node.exec(["sh", "-c", "ip link add low0 type bridge && ip link set low0 up"]);
  const ip = (...words: readonly string[]): unknown => stage.node.exec(["ip", "link", ...words]);

  test("WA-01 WA-02: a removed bridge and a removed master are noticed, each in its pod, and their return, too", async () => {
    const pod = await attached("storage,fast");
    await expect.poll(() => sentence(), soon).toMatch(/ watched, 0 lost$/u);
    const end = stage.node.links().find(({ master }) => master === "br-storage")?.name ?? "";
    ip("set", end, "nomaster");
    await expect
      .poll(() => sentence(), soon)
      .toContain(`net1: its end ${end} on the node has lost its master br-storage (now none)`);
    ip("set", end, "master", "br-storage");
    await expect.poll(() => sentence(), soon).toMatch(/ watched, 0 lost$/u);
    ip("del", "br-storage");
    await expect.poll(() => sentence(), soon).toContain("lost its master br-storage");
    ip("del", "low0");
    await expect.poll(() => sentence(), soon).toContain("net2 no longer exists in the pod's network namespace");
    // The native macvlan fails without its master; the runtime tries the DEL again.
    await node.call("DEL", pod);
    await expect.poll(() => sentence(), soon).toBe("on; 0 links watched, 0 lost");
    makeMaster();
    await node.succeed("DEL", pod);
  });

  test("WA-03: a lost link is attached again with its name, MAC, addresses and routes, when its master is there again; no lease changes", async () => {
    const pod = await attached("storage,fast", { repair: true });
    await expect.poll(() => sentence(), soon).toMatch(/ watched, 0 lost$/u);
    const before = [shape(pod, "net1"), shape(pod, "net2")];
    const held = leases(stage.leases);
    expect(before[0]).toMatchObject({ routes: expect.arrayContaining(["10.120.0.0/24"]) });
    stage.steps();
    ip("del", "br-storage");
    ip("del", "low0");
    await expect.poll(() => shape(pod, "net1"), soon).toEqual(before[0]);
    await expect.poll(() => node.warnings.join("\n"), soon).toMatch(/net2 could not be attached again: .*macvlan.*not found/u);
    expect(pod.pod.links().map(({ name }) => name)).not.toContain("net2");
    makeMaster();
    await expect.poll(() => shape(pod, "net2"), soon).toEqual(before[1]);
    await expect.poll(() => sentence(), soon).toMatch(/ watched, 0 lost$/u);
    expect([shape(pod, "net1"), shape(pod, "net2")]).toEqual(before);
    expect(leases(stage.leases)).toEqual(held);
    expect(new Set(stage.steps().flatMap(({ type }) => (type === "host-local" ? [type] : [])))).toEqual(new Set());
    await node.succeed("CHECK", pod);
    await node.succeed("DEL", pod);
    expect([pod.pod.links().length, leases(stage.leases)]).toEqual([0, []]);
  });

  test("WA-01 WA-03: what shows in the pod alone is found by the look after an agent connects, and mended", async () => {
    const pod = await attached("storage", { repair: true });
    await expect.poll(() => sentence(), soon).toMatch(/ watched, 0 lost$/u);
    const before = shape(pod, "net1");
    for (const change of ["addr flush dev net1", "link set net1 address 02:00:00:00:00:99", "link del net1"]) {
      const earlier = indexOf(pod);
      pod.pod.exec(["sh", "-c", `ip ${change}`]);
      node.daemon.residents.agentConnected();
      await expect.poll(() => [shape(pod, "net1"), indexOf(pod) === earlier], soon).toEqual([before, false]);
      await expect.poll(() => sentence(), soon).toMatch(/ watched, 0 lost$/u);
    }
    await node.succeed("DEL", pod);
  });

  test("WA-05: a link that was lost while the daemon was away is found by the next daemon, and mended", async () => {
    const pod = await attached("storage", { repair: true });
    await expect.poll(() => sentence(), soon).toMatch(/ watched, 0 lost$/u);
    const before = shape(pod, "net1");
    const restarted = node.start();
    pod.pod.exec(["ip", "link", "del", "net1"]);
    await restarted;
    await expect.poll(() => shape(pod, "net1"), soon).toEqual(before);
    await node.succeed("DEL", pod);
  });

  test("WA-01 WA-05: a bridge that the node's end got while the daemon was away stays the wrong one, whatever else happens on the node", async () => {
    const pod = await attached("storage");
    await expect.poll(() => sentence(), soon).toMatch(/ watched, 0 lost$/u);
    const end = stage.node.links().find(({ master }) => master === "br-storage")?.name ?? "";
    ip("add", "br-wrong", "type", "bridge");
    const restarted = node.start();
    ip("set", end, "master", "br-wrong");
    await restarted;
    const lost = "has lost its master br-storage (now br-wrong)";
    await expect.poll(() => sentence(), soon).toContain(lost);
    ip("add", "unrelated", "type", "bridge");
    // The end's own master counts again: the daemon has not taken the other bridge for it.
    ip("set", end, "master", "br-storage");
    await expect.poll(() => sentence(), soon).toMatch(/ watched, 0 lost$/u);
    ip("del", "unrelated");
    ip("del", "br-wrong");
    await node.succeed("DEL", pod);
  });

  test("WA-02 WA-05: a master that no result names, as that of a port of Open vSwitch, is missed by the next daemon, too, and comes back", async () => {
    const program = `#!${process.execPath}
const { cniVersion, prevResult } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const result = prevResult ?? { cniVersion };
const [end] = result.interfaces ?? [];
if (process.env.CNI_COMMAND === "ADD") require("node:child_process").execFileSync("ip", ["link", "set", end.name, "master", "switch0"]);
console.log(JSON.stringify(result));`;
    writeFileSync(join(stage.plexus.cniPath, "switched"), program, { mode: 0o755 });
    const ipam = { type: "host-local", ranges: [[{ subnet: "10.70.0.0/24" }]], dataDir: stage.leases };
    manifests.network("switched", [{ type: "ptp", ipam }, { type: "switched" }]);
    const members = (): readonly string[] =>
      stage.node.links().flatMap(({ name, master }) => (master === "switch0" ? [name] : []));
    ip("add", "switch0", "type", "bridge");
    const pod = await attached("switched", { repair: true });
    for (const isBridge of [false, true]) {
      const [end = ""] = members();
      await node.stopDaemon();
      if (isBridge) ip("del", "switch0");
      else ip("set", end, "nomaster");
      await node.start();
      if (isBridge) ip("add", "switch0", "type", "bridge");
      await expect.poll(members, soon).toEqual([expect.not.stringMatching(`^${end}$`)]);
      await expect.poll(() => sentence(), soon).toMatch(/ watched, 0 lost$/u);
    }
    await node.succeed("DEL", pod);
    ip("del", "switch0");
  });

  test("WA-01: a link of the node that a plugin names behind the end of a veth, as bandwidth names its ifb, is no lost master", async () => {
    const program = `#!${process.execPath}
const { cniVersion, prevResult } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const result = prevResult ?? { cniVersion };
if (process.env.CNI_COMMAND === "ADD") result.interfaces.push({ name: "bwp0", mac: "02:00:00:00:00:01" });
console.log(JSON.stringify(result));`;
    writeFileSync(join(stage.plexus.cniPath, "shapes"), program, { mode: 0o755 });
    const ipam = { type: "host-local", ranges: [[{ subnet: "10.60.0.0/24" }]], dataDir: stage.leases };
    manifests.network("shaped", [{ type: "ptp", ipam }, { type: "shapes" }]);
    ip("add", "bwp0", "type", "veth", "peer", "name", "bwp1");
    const pod = await attached("shaped");
    await expect.poll(() => sentence(), soon).toMatch(/ watched, 0 lost$/u);
    pod.pod.exec(["ip", "link", "set", "net1", "down"]);
    await expect.poll(() => sentence(), soon).toContain("net1 was set down");
    ip("del", "bwp0");
    pod.pod.exec(["ip", "link", "set", "net1", "up"]);
    await expect.poll(() => sentence(), soon).toMatch(/ watched, 0 lost$/u);
    await node.succeed("DEL", pod);
  });

  test("WA-04: a link that the pod has put into a bridge of its own stays there, without its addresses, and down as long as the pod likes", async () => {
    const pod = await attached("storage", { repair: true });
    await expect.poll(() => sentence(), soon).toMatch(/ watched, 0 lost$/u);
    const index = indexOf(pod);
    const inBridge = "ip link add own type bridge; ip link set own up; ip link set net1 master own; ip addr flush dev net1";
    pod.pod.exec(["sh", "-ec", inBridge]);
    node.daemon.residents.agentConnected();
    pod.pod.exec(["ip", "link", "set", "net1", "down"]);
    await expect.poll(() => sentence(), soon).toContain("net1 was set down");
    pod.pod.exec(["ip", "link", "set", "net1", "up"]);
    await expect.poll(() => sentence(), soon).toMatch(/ watched, 0 lost$/u);
    expect([indexOf(pod), pod.pod.links().find(({ name }) => name === "net1")?.master]).toEqual([index, "own"]);
    await node.succeed("DEL", pod);
  });

  test("WA-04: a link that the pod has renamed stays as it is, and so does another link that has its name", async () => {
    const pod = await attached("storage", { repair: true });
    await expect.poll(() => sentence(), soon).toMatch(/ watched, 0 lost$/u);
    pod.pod.exec(["sh", "-c", "ip link set net1 down; ip link set net1 name data; ip link add net1 type bridge"]);
    const before = pod.pod.links();
    node.daemon.residents.agentConnected();
    ip("del", "br-storage");
    await expect.poll(() => sentence(), soon).toContain("net1 (data now): its end");
    expect(pod.pod.links()).toEqual(before);
    await node.call("DEL", pod);
  });
});
