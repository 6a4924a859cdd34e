// Networks of running pods follow the annotation: a daemon in this process with a directory of manifests, an agent, and real namespaces.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { isJsonObject } from "../../../src/json/document.ts";
import { startAgent, type TestAgent } from "../../lab/agent.ts";
import { startDaemon, type TestDaemon } from "../../lab/daemon.ts";
import { inHost, leases } from "../../lab/namespaces.ts";
import type { Answer } from "../../lab/plexus.ts";
import { installRecorder } from "../../lab/recorder.ts";
import { type Manifests, manifestsIn } from "../../lab/manifests.ts";
import { bridgeStep, missingForMixed, mixedInstallation } from "../../lab/mixed-network.ts";
import { ReconcileNode } from "../../lab/reconcile-node.ts";
import { type Attaching, openStage, type Stage } from "../../lab/stage.ts";

type Attached = Attaching & { readonly pod: ReturnType<Stage["pod"]>; readonly containerId: string };

const linksOf = ({ pod }: Attached): readonly string[] => pod.links().map(({ name }) => name);

/** The valid attachments that a plugin's GC got. */
const validIn = ({ stdin }: { stdin: string } = { stdin: "{}" }): unknown => JSON.parse(stdin)["cni.dev/valid-attachments"];

const soon = { interval: 10 };
const expectLinks = (pod: Attached, ...links: readonly string[]): Promise<void> =>
  expect.poll(() => linksOf(pod).toSorted(), soon).toEqual(["eth0", ...links].toSorted());

describe.skipIf(missingForMixed("hot-plug"))("networks of a running pod", () => {
  let node: ReconcileNode;
  let stage: Stage;
  let manifests: Manifests;
  let serial = 0;
  beforeAll(async () => {
    node = new ReconcileNode();
    ({ stage } = node);
    manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
    await node.start();
    await node.startAgent();
    for (const [name, subnet] of [
      ["storage", "10.20.0.0/24"],
      ["fast", "10.30.0.0/24"],
    ] as const) {
      const ipam = { type: "ipam-host-local", subnet };
      manifests.network(name, [{ type: "bridge", bridge: `br-${name}`, ipam }]);
    }
  });
  afterAll(() => node.dispose());

  const config = (more: object = {}): object =>
    stage.network([bridgeStep()], { manifests: manifests.directory, hotPlug: true, ...more });
  async function attached(selection?: string | readonly object[], more: object = {}): Promise<Attached> {
    const name = `hot-${++serial}`;
    manifests.pod(name, selection);
    const pod = { config: config(more), containerId: name, pod: stage.pod(), args: manifests.argsOf(name) };
    await node.succeed("ADD", pod);
    return pod;
  }
  const select = ({ containerId }: Attached, selection?: string | readonly object[]): void =>
    manifests.pod(containerId, selection);
  /** The pod's network status as `interface network`. */
  const statusOf = ({ containerId }: Attached): readonly string[] => {
    const status = manifests.statusOf(containerId);
    return Array.isArray(status) ? status.filter(isJsonObject).map((each) => `${each["interface"]} ${each["name"]}`) : [];
  };
  const expectStatus = (pod: Attached, ...entries: readonly string[]): Promise<void> =>
    expect.poll(() => statusOf(pod), soon).toEqual(["eth0 pods", ...entries]);
  async function deleted(pod: Attached): Promise<void> {
    await node.succeed("DEL", pod);
    expect(stage.files().state.filter((path) => path.includes(pod.containerId))).toEqual([]);
    expect(linksOf(pod)).toEqual([]);
  }

  test("MO-17 N13-03: a network is attached when the annotation selects it, detached when not, and the status and CHECK follow", async () => {
    const pod = await attached("storage");
    select(pod, "storage,fast");
    await expectLinks(pod, "net1", "net2");
    await expectStatus(pod, "net1 shop/storage", "net2 shop/fast");
    expect(pod.pod.addresses().map(({ link }) => link)).toContain("net2");
    await node.succeed("CHECK", pod);
    // The unnamed network keeps its name, wherever the annotation has it.
    select(pod, "fast");
    await expectLinks(pod, "net2");
    await expectStatus(pod, "net2 shop/fast");
    await node.succeed("CHECK", pod);
    select(pod);
    await expectLinks(pod);
    await expectStatus(pod);
    select(pod, [{ name: "storage", interface: "data" }]);
    await expectLinks(pod, "data");
    await deleted(pod);
    expect(leases(stage.leases)).toEqual([]);
  });

  test("MO-17: an attachment keeps its interface while its definition is edited or deleted, and is detached without it", async () => {
    const ipam = { type: "ipam-host-local", subnet: "10.50.0.0/24" };
    manifests.network("brief", [{ type: "bridge", bridge: "br-brief", ipam }]);
    const pod = await attached("brief");
    const before = pod.pod.addresses();
    manifests.network("brief", [{ type: "bridge", bridge: "br-other", ipam: { ...ipam, subnet: "10.51.0.0/24" } }]);
    select(pod, "brief,storage");
    await expectLinks(pod, "net1", "net2");
    expect(pod.pod.addresses()).toEqual(expect.arrayContaining([...before]));
    rmSync(join(manifests.directory, "network-brief.json"));
    select(pod, "storage");
    await expectLinks(pod, "net2");
    await expect.poll(() => leases(stage.leases).some((path) => path.startsWith("brief/")), soon).toBe(false);
    // A definition that does not exist is attached as soon as it exists.
    select(pod, "storage,late");
    await expect.poll(() => node.warnings.join("\n"), soon).toMatch(/late .*\[NETWORK_NOT_FOUND\]/u);
    manifests.network("late", [{ type: "bridge", bridge: "br-late", ipam }]);
    await expectLinks(pod, "net2", "net3");
    await deleted(pod);
  });

  test("another network on the same interface is a DEL and then an ADD", async () => {
    const pod = await attached([{ name: "storage", interface: "data" }]);
    stage.steps();
    select(pod, [{ name: "fast", interface: "data" }]);
    await expectStatus(pod, "data shop/fast");
    await expectLinks(pod, "data");
    expect(pod.pod.addresses().find(({ link }) => link === "data")?.address).toMatch(/^10\.30\.0\./u);
    const bridges = stage.steps().flatMap(({ verb, type }) => (type === "bridge" ? [verb] : []));
    expect(bridges).toEqual(["DEL", "ADD"]);
    await deleted(pod);
  });

  test("ten changes in a second lead to a few comparisons, and to what the last one selects", async () => {
    const pod = await attached("storage");
    stage.steps();
    const began = performance.now();
    for (let change = 0; change < 10; change++) {
      select(pod, change % 2 === 0 ? "storage,fast" : "storage");
      await sleep(80);
    }
    select(pod, "storage,fast");
    await expectStatus(pod, "net1 shop/storage", "net2 shop/fast");
    const changes = stage.steps().filter(({ type, ifname }) => type === "bridge" && ifname === "net2");
    // Each comparison makes one change at most; a pause of 250 ms lies between two of them. A busy machine needs more than a second for the changes.
    expect(changes.length).toBeLessThanOrEqual(Math.max(7, 1 + Math.ceil((performance.now() - began) / 250)));
    await deleted(pod);
  });

  test("a pod that is deleted meanwhile leaves nothing", async () => {
    const pod = await attached("storage");
    select(pod, "storage,fast");
    await sleep(30);
    rmSync(join(manifests.directory, `pod-${pod.containerId}.json`));
    await deleted(pod);
    await sleep(300);
    expect([linksOf(pod), leases(stage.leases)]).toEqual([[], []]);
  });

  test("refuses a device plugin's network, a port of an outer fabric and a foreign namespace's with the reason, and attaches the others", async () => {
    const annotations = { "k8s.v1.cni.cncf.io/resourceName": "vendor.example/nic" };
    manifests.network("device", [{ type: "bridge", bridge: "br-device" }], annotations);
    manifests.definition("theirs", { config: "{}" }, { namespace: "elsewhere" });
    manifests.network("fabric", [{ type: "bridge", bridge: "br-fabric" }], {
      "plexus.dev/external-port": '{"provider":"fabric"}',
    });
    const pod = await attached(undefined, { namespaceIsolation: true, externalPorts: true, name: "isolated" });
    select(pod, "device,elsewhere/theirs,storage,fabric");
    await expectLinks(pod, "net3");
    const warnings = (): string => node.warnings.filter((line) => line.includes(`pod shop/${pod.containerId}:`)).join("\n");
    await expect
      .poll(warnings, soon)
      .toMatch(/device plugin's resource.*\[HOT_PLUG_REFUSED\].*\[NETWORK_FORBIDDEN\].*ports of provider "fabric"/u);
    select(pod, [{ name: "storage" }, { name: "fast", "default-route": ["10.30.0.1"] }, { name: "fast", interface: "eth0" }]);
    await expect
      .poll(warnings, soon)
      .toMatch(/default-route cannot be changed.*requests interface "eth0".*INTERFACE_NAME_TAKEN/u);
    expect(linksOf(pod).toSorted()).toEqual(["eth0", "net3"]);
    // A mistake in the annotation changes nothing.
    select(pod, "[{");
    await expect.poll(warnings, soon).toContain("[SELECTION_INVALID]");
    expect(linksOf(pod).toSorted()).toEqual(["eth0", "net3"]);
    await deleted(pod);
  });

  test("keeps a network whose changed requests can only be refused, and one with the pod's default route", async () => {
    const pod = await attached("storage");
    const warnings = (): string => node.warnings.filter((line) => line.includes(`pod shop/${pod.containerId}:`)).join("\n");
    const before = pod.pod.addresses();
    select(pod, [{ name: "storage", "default-route": ["10.20.0.1"] }]);
    await expect.poll(warnings, soon).toContain("default-route cannot be changed");
    select(pod, [{ name: "storage", mac: "not-a-mac" }]);
    await expect.poll(warnings, soon).toContain("[SELECTION_INVALID]");
    expect(pod.pod.addresses()).toEqual(before);
    // A change that an ADD accepts replaces the attachment.
    select(pod, [{ name: "storage", "cni-args": { color: "green" } }]);
    await expect
      .poll(() => stage.steps().filter(({ verb, ifname }) => verb === "DEL" && ifname === "net1").length, soon)
      .toBeGreaterThan(0);
    await expectStatus(pod, "net1 shop/storage");
    await deleted(pod);

    const routed = await attached('[{"name":"storage","default-route":["10.20.0.1"]}]');
    const warned = (): string => node.warnings.filter((line) => line.includes(`pod shop/${routed.containerId}:`)).join("\n");
    select(routed, "fast");
    await expectStatus(routed, "net1 shop/storage", "net2 shop/fast");
    select(routed, [{ name: "storage" }, { name: "fast" }]);
    await expect.poll(warned, soon).toContain("has the pod's default route, which cannot be changed while the pod runs");
    expect(linksOf(routed).toSorted()).toEqual(["eth0", "net1", "net2"]);
    await deleted(routed);
  });

  test("a GC keeps what a running container got by hot-plug, and undoes that of a container that the runtime does not know", async () => {
    // Plugins get GC from CNI 1.1.0 on.
    const recorder = installRecorder(stage.plexus.cniPath, "swept");
    const interfaces = [{ name: "net2", sandbox: "/run/netns/any" }];
    recorder.script("ADD", { stdout: JSON.stringify({ cniVersion: "1.1.0", interfaces }) });
    const list = { cniVersion: "1.1.0", name: "swept", plugins: [{ type: "swept" }] };
    manifests.definition("swept", { config: JSON.stringify(list) });
    const calls = (verb: string): ReturnType<typeof recorder.calls> =>
      recorder.calls().filter(({ env }) => env["CNI_COMMAND"] === verb);
    const [live, dead] = [await attached("storage"), await attached("storage")];
    for (const pod of [live, dead]) {
      select(pod, "storage,swept");
      await expectStatus(pod, "net1 shop/storage", "net2 shop/swept");
    }
    const leasesOf = ({ containerId }: Attached): readonly string[] =>
      leases(stage.leases).filter((path) => readFileSync(join(stage.leases, path), "utf8").startsWith(`${containerId}\r\n`));
    const before = { addresses: live.pod.addresses(), leases: leasesOf(live) };
    expect(before.leases).toHaveLength(2);
    const valid = [{ containerID: live.containerId, ifname: "eth0" }];
    const gc = { ...live, config: { ...live.config, cniVersion: "1.1.0", "cni.dev/valid-attachments": valid } };
    await node.succeed("GC", gc);
    expect({ addresses: live.pod.addresses(), leases: leasesOf(live) }).toEqual(before);
    await node.succeed("CHECK", live);
    expect([linksOf(dead), leasesOf(dead)]).toEqual([[], []]);
    expect(calls("DEL").map(({ env }) => env["CNI_CONTAINERID"])).toEqual([dead.containerId]);
    expect(validIn(calls("GC").at(-1))).toEqual([{ containerID: live.containerId, ifname: "net2" }]);
    // A network that hot-plug detached has no valid attachment any more.
    select(live, "swept");
    await expectStatus(live, "net2 shop/swept");
    await node.succeed("GC", gc);
    expect(leasesOf(live).map((path) => path.split("/")[0])).toEqual(["pods"]);
    expect(calls("DEL")).toHaveLength(1);
    await deleted(live);
  });

  test("does not touch a path that has become another network namespace", async () => {
    const pod = await attached();
    const inside = (...command: readonly [string, ...string[]]): void => expect(pod.pod.exec(command).status).toBe(0);
    const { mac } = pod.pod.links()[0] ?? { mac: "" };
    inHost(["ip", "netns", "delete", pod.pod.name]);
    inHost(["ip", "netns", "add", pod.pod.name]);
    // The other namespace even has a link with this name and address.
    inside("ip", "link", "add", "eth0", "address", mac, "type", "bridge");
    select(pod, "storage");
    await expect.poll(() => node.warnings.join("\n"), soon).toContain(`${pod.pod.path} is another network namespace`);
    expect(linksOf(pod)).toEqual(["eth0"]);
    expect((await node.call("DEL", pod)).status).toBe(0);
    expect(linksOf(pod)).toEqual(["eth0"]);
  });

  test("FI-18: a pod whose default network reports no hardware address, or that changed it, gets and loses networks", async () => {
    const recorder = installRecorder(stage.plexus.cniPath, "addressless");
    const name = `hot-${++serial}`;
    const fresh = stage.pod();
    const interfaces = [{ name: "eth0", sandbox: fresh.path }];
    recorder.script("ADD", { stdout: JSON.stringify({ cniVersion: "1.0.0", interfaces, ips: [] }) });
    const plugins = [bridgeStep(), { type: "addressless" }];
    const more = { manifests: manifests.directory, hotPlug: true, name: "addressless" };
    manifests.pod(name);
    const pod = { config: stage.network(plugins, more), containerId: name, pod: fresh, args: manifests.argsOf(name) };
    await node.succeed("ADD", pod);
    // KubeVirt's bridge binding takes the address away.
    expect(fresh.exec(["ip", "link", "set", "eth0", "down", "address", "02:00:00:00:00:99", "name", "eth0-nic"]).status).toBe(0);
    expect(fresh.exec(["ip", "link", "add", "eth0", "type", "bridge"]).status).toBe(0);
    select(pod, "storage");
    await expect.poll(() => linksOf(pod).toSorted(), soon).toEqual(["eth0", "eth0-nic", "net1"]);
    select(pod);
    await expect.poll(() => linksOf(pod).toSorted(), soon).toEqual(["eth0", "eth0-nic"]);
    await node.call("DEL", pod);
    expect([linksOf(pod), leases(stage.leases)]).toEqual([["eth0"], []]);
  });

  test("FI-15: detaching removes the attachment's link under its new name, not the link that has its name now", async () => {
    const pod = await attached("storage");
    const swap = "ip link set net1 down; ip link set net1 name 0a1b2c3d-nic; ip link set 0a1b2c3d-nic up";
    expect(pod.pod.exec(["sh", "-ec", `${swap}; ip link add net1 type bridge`]).stderr).toBe("");
    select(pod);
    await expectStatus(pod);
    expect(linksOf(pod).toSorted()).toEqual(["eth0", "net1"]);
    expect(leases(stage.leases).filter((path) => path.startsWith("storage/"))).toEqual([]);
    // The name belongs to the pod's own link now.
    select(pod, "storage");
    await expectStatus(pod, "net2 shop/storage");
    await node.succeed("DEL", pod);
    expect([linksOf(pod), leases(stage.leases)]).toEqual([["net1"], []]);
  });

  test("FI-15: a pod that gives its new link's name and address to its own link before the record loses the attachment's link in the detach", async () => {
    // The last plugin of the list plays the pod.
    const commands = [
      ["link", "set", "net1", "name", "moved"],
      ["link", "add", "net1", "type", "bridge"],
    ];
    const script = `#!${process.execPath}
      const { execFileSync } = require("node:child_process");
      const { prevResult } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
      const { CNI_COMMAND, CNI_NETNS } = process.env;
      const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" };
      const run = (command) => execFileSync("nsenter", ["--net=" + CNI_NETNS, "ip", ...command], { env });
      if (CNI_COMMAND === "ADD") {
        const mac = prevResult.interfaces.find(({ name, sandbox }) => name === "net1" && sandbox).mac;
        for (const command of ${JSON.stringify(commands)}) run(command);
        run(["link", "set", "net1", "address", mac]);
        console.log(JSON.stringify(prevResult));
      }`;
    writeFileSync(join(stage.plexus.cniPath, "swap-names"), script, { mode: 0o755 });
    const ipam = { type: "ipam-host-local", subnet: "10.60.0.0/24" };
    manifests.network("swapped", [{ type: "bridge", bridge: "br-swapped", ipam }, { type: "swap-names" }]);
    const pod = await attached();
    select(pod, "swapped");
    await expectLinks(pod, "moved", "net1");
    await expectStatus(pod, "net1 shop/swapped");
    select(pod);
    // The pod keeps its own link.
    await expectLinks(pod, "net1");
    await expect.poll(() => leases(stage.leases).some((path) => path.startsWith("swapped/")), soon).toBe(false);
    inHost(["nsenter", `--net=${pod.pod.path}`, "ip", "link", "delete", "net1"]);
    await deleted(pod);
  });

  test("FI-15: a failed ADD leaves no link that the pod has renamed meanwhile, and the next try succeeds", async () => {
    // The last plugin of the list plays the pod, and fails once.
    const script = `#!${process.execPath}
      const { execFileSync } = require("node:child_process");
      const { existsSync, readFileSync, writeFileSync } = require("node:fs");
      const { prevResult, mark } = JSON.parse(readFileSync(0, "utf8"));
      const { CNI_COMMAND, CNI_NETNS } = process.env;
      const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" };
      const run = (...command) => execFileSync("nsenter", ["--net=" + CNI_NETNS, "ip", ...command], { env });
      if (CNI_COMMAND === "ADD" && !existsSync(mark)) {
        writeFileSync(mark, "");
        run("link", "set", "net1", "name", "moved");
        run("link", "add", "own0", "type", "veth", "peer", "name", "own1");
        console.log(JSON.stringify({ cniVersion: "1.0.0", code: 101, msg: "no backend" }));
        process.exitCode = 1;
      } else if (CNI_COMMAND === "ADD") console.log(JSON.stringify(prevResult));`;
    writeFileSync(join(stage.plexus.cniPath, "rename-and-fail"), script, { mode: 0o755 });
    const ipam = { type: "ipam-host-local", subnet: "10.61.0.0/24" };
    const mark = join(stage.plexus.directory, "renamed-once");
    manifests.network("renamed", [
      { type: "bridge", bridge: "br-renamed", ipam },
      { type: "rename-and-fail", mark },
    ]);
    const pod = await attached();
    select(pod, "renamed");
    await expectStatus(pod, "net1 shop/renamed");
    // The failed ADD's link is gone, and the pod keeps its own links.
    await expectLinks(pod, "net1", "own0", "own1");
    expect(leases(stage.leases).filter((path) => path.startsWith("renamed/") && /\d$/u.test(path))).toHaveLength(1);
    inHost(["nsenter", `--net=${pod.pod.path}`, "ip", "link", "delete", "own0"]);
    await deleted(pod);
  });

  test("FI-18: an entry without a record of its links is recognized by the address of its result", async () => {
    const pod = await attached();
    const path = join(node.state, "journal", `${pod.containerId}@cluster@eth0`);
    const lines = readFileSync(path, "utf8").split("\n");
    expect(lines.filter((line) => line.startsWith('{"pod":'))).toHaveLength(1);
    writeFileSync(path, lines.filter((line) => !line.startsWith('{"pod":')).join("\n"));
    select(pod, "storage");
    await expectLinks(pod, "net1");
    await deleted(pod);
  });

  test("says why a pod that was attached without the key keeps its networks, and nothing while it selects them", async () => {
    // The daemon keeps the configuration of this call, with the key, for its own calls.
    const on = await attached(undefined, { name: "off" });
    const pod = await attached("storage", { hotPlug: false, name: "off" });
    const journal = readFileSync(join(node.state, "journal", `${pod.containerId}@off@eth0`), "utf8");
    expect(journal).not.toContain("hotPlug");
    const refusals = (): readonly string[] => node.warnings.filter((line) => line.includes(pod.containerId));
    await sleep(400);
    expect(refusals()).toEqual([]);
    select(pod, "storage,fast");
    await expect
      .poll(refusals, soon)
      .toEqual([
        expect.stringMatching(/attached before the key hotPlug was switched on; create its pod anew \[HOT_PLUG_REFUSED\]/u),
      ]);
    expect(linksOf(pod).toSorted()).toEqual(["eth0", "net1"]);
    await deleted(on);
    await node.succeed("DEL", pod);
  });

  test("a failed attachment is undone and tried again", async () => {
    const recorder = installRecorder(stage.plexus.cniPath, "failing");
    recorder.script("ADD", { exit: 1, stdout: JSON.stringify({ cniVersion: "1.0.0", code: 101, msg: "no backend" }) }, 1);
    manifests.network("flaky", [
      { type: "bridge", bridge: "br-flaky", ipam: { type: "ipam-host-local", subnet: "10.60.0.0/24" } },
      { type: "failing" },
    ]);
    const pod = await attached();
    select(pod, "flaky");
    await expectStatus(pod, "net1 shop/flaky");
    expect(recorder.calls().map(({ env }) => env["CNI_COMMAND"])).toEqual(["ADD", "DEL", "ADD"]);
    expect(node.warnings.join("\n")).toMatch(/network shop\/flaky as net1: .*no backend/u);
    await deleted(pod);
  });

  test("a status that could not be written is written later, also after a restart of the daemon", async () => {
    const pod = await attached();
    const status = join(manifests.directory, "status");
    rmSync(status, { recursive: true });
    writeFileSync(status, "");
    select(pod, "storage");
    await expectLinks(pod, "net1");
    await expect.poll(() => node.warnings.join("\n"), soon).toContain("publishing the status");
    const restarted = node.start();
    rmSync(status);
    await restarted;
    await expectStatus(pod, "net1 shop/storage");
    await deleted(pod);
  });

  test("a request attaches and detaches a network besides the annotation's", async () => {
    const pod = await attached("storage");
    const hotPlug = node.daemon.residents.changes;
    const selection = { name: "fast", namespace: "shop", interface: "extra", extensions: new Map<string, string>() };
    const made = await hotPlug.attach(pod.containerId, selection);
    expect(made).toMatchObject({ ok: true, value: { ifname: "extra", source: "shop/fast" } });
    expect(await hotPlug.attach(pod.containerId, selection)).toEqual(made);
    await expectStatus(pod, "net1 shop/storage", "extra shop/fast");
    await node.succeed("CHECK", pod);
    select(pod);
    await expectLinks(pod, "extra");
    expect(await hotPlug.detach(pod.containerId, "eth0")).toMatchObject({ fault: { kind: "HOT_PLUG_REFUSED" } });
    expect(await hotPlug.detach("unknown", "extra")).toMatchObject({ fault: { kind: "HOT_PLUG_REFUSED" } });
    expect(await hotPlug.detach(pod.containerId, "extra")).toEqual({ ok: true, value: undefined });
    expect(await hotPlug.detach(pod.containerId, "extra")).toEqual({ ok: true, value: undefined });
    await expectLinks(pod);
    await deleted(pod);
  });

  test("fifty pods change at once", async () => {
    const pods: Attached[] = [];
    for (let round = 0; round < 7; round++) {
      pods.push(...(await Promise.all(Array.from({ length: round === 6 ? 2 : 8 }, () => attached()))));
    }
    const patience = { interval: 100 };
    for (const pod of pods) select(pod, "storage");
    await expect.poll(() => pods.filter((pod) => statusOf(pod).includes("net1 shop/storage")).length, patience).toBe(50);
    expect(leases(stage.leases).filter((path) => path.startsWith("storage/")).length).toBe(50);
    for (const pod of pods) select(pod);
    await expect.poll(() => pods.filter((pod) => statusOf(pod).length === 1).length, patience).toBe(50);
    expect(leases(stage.leases).filter((path) => path.startsWith("storage/"))).toEqual([]);
  });
});

const chain = (index: number): readonly object[] => [
  { type: `before-${index}` },
  { type: "bridge", bridge: `br-${index}`, ipam: { type: "ipam-host-local", subnet: `10.7${index}.0.0/24` } },
  { type: `after-${index}` },
];

describe.skipIf(missingForMixed("hot-plug and crashes"))("a crash during a change of a running pod", () => {
  test("MO-17: daemon and agent killed at each step: the next daemon makes what is selected", async () => {
    const stage = openStage(mixedInstallation);
    const socket = join(stage.plexus.directory, "daemon", "plexus.sock");
    const manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
    const config = stage.network([bridgeStep()], { manifests: manifests.directory, hotPlug: true });
    const running: (TestDaemon | TestAgent)[] = [];
    const startBoth = async (): Promise<void> => {
      const daemon = await startDaemon({
        socket,
        args: ["--state-dir", stage.plexus.state("cni"), "--reconcile-interval", "3600"],
        confined: { writable: [stage.plexus.state("cni"), stage.leases, manifests.directory] },
      });
      const env = {
        PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
        CNI_PATH: stage.plexus.cniPath,
        PLEXUS_SOCKET: socket,
      };
      running.push(daemon, startAgent({ command: stage.entrance(), env }));
    };
    const killBoth = async (): Promise<void> => {
      const all = running.splice(0);
      for (const each of all) each.signal("SIGKILL");
      await Promise.all(all.map((each) => each.ended));
    };
    try {
      await startBoth();
      // Each pod has plugins of its own, so that one kill hits all boundaries: the step that is killed, of ADD and of DEL.
      const scenes = [
        { verb: "ADD", plugin: "before" },
        { verb: "ADD", plugin: "after" },
        { verb: "DEL", plugin: "after" },
        { verb: "DEL", plugin: "before" },
      ].map(({ verb, plugin }, index) => {
        const recorders = new Map(
          ["before", "after"].map((name) => [name, installRecorder(stage.plexus.cniPath, `${name}-${index}`)]),
        );
        manifests.network(`crash-${index}`, chain(index));
        const name = `pod-${index}`;
        const call = { containerId: name, ifname: "eth0", args: manifests.argsOf(name), config };
        return { verb, name, index, recorder: recorders.get(plugin), pod: stage.pod(), call };
      });
      const request = (verb: string, { call, pod }: (typeof scenes)[number]): Promise<Answer> =>
        stage.request({ verb, ...call, netns: pod.path, env: { PLEXUS_SOCKET: socket, PLEXUS_HOME: "/nowhere" } });
      for (const scene of scenes) {
        const selection = `crash-${scene.index}`;
        manifests.pod(scene.name, scene.verb === "DEL" ? selection : undefined);
        expect(await request("ADD", scene)).toMatchObject({ status: 0 });
        scene.recorder?.hold(scene.verb, 1);
        manifests.pod(scene.name, scene.verb === "ADD" ? selection : undefined);
      }
      const isAtStep = ({ verb, recorder }: (typeof scenes)[number]): boolean =>
        recorder?.calls().some(({ env }) => env["CNI_COMMAND"] === verb) === true;
      await expect.poll(() => scenes.filter(isAtStep).length, soon).toBe(4);
      await killBoth();
      const journal = scenes.map(({ name }) =>
        readFileSync(join(stage.plexus.state("cni"), "journal", `${name}@cluster@eth0`), "utf8"),
      );
      expect(journal.every((text) => text.includes('"status":"due"'))).toBe(true);
      // CHECK of a pod whose change broke off passes: its other networks are whole.
      await startBoth();
      const linkNames = ({ pod }: (typeof scenes)[number]): string =>
        pod
          .links()
          .map((link) => link.name)
          .toSorted()
          .join(" ");
      await expect.poll(() => scenes.map(linkNames), soon).toEqual(["eth0 net1", "eth0 net1", "eth0", "eth0"]);
      const settled = (): readonly number[] =>
        scenes.map(({ name }) => {
          const status = manifests.statusOf(name);
          return Array.isArray(status) ? status.length : 0;
        });
      await expect.poll(settled, soon).toEqual([2, 2, 1, 1]);
      for (const scene of scenes) expect(await request("CHECK", scene)).toMatchObject({ status: 0, stdout: "" });
      for (const scene of scenes) expect(await request("DEL", scene)).toMatchObject({ status: 0 });
      expect([leases(stage.leases), stage.left().links]).toEqual([[], []]);
    } finally {
      await Promise.all(running.splice(0).map((each) => each.stop()));
      stage.dispose();
    }
  });
});
