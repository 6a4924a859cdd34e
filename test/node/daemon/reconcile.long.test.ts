// The reconciler undoes attachments that no runtime deletes, and nothing else (RT-02, RT-10, FI-22), with real plugins and leases.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { lockSync } from "../../../host/store/locks/testing/lock-sync.ts";
import { leases } from "../../lab/namespaces.ts";
import { randomFrom, testSeed } from "../../lab/random-from.ts";
import { installRecorder, type RecorderPlugin } from "../../lab/recorder.ts";
import { command, missing, referencePlugin, referencePlugins } from "../../lab/requires.ts";
import { bridgeStep, missingForMixed, mixedNetwork } from "../../lab/mixed-network.ts";
import { ReconcileNode, shownFindings } from "../../lab/reconcile-node.ts";
import type { Attaching, LeftFiles, Stage } from "../../lab/stage.ts";

type Pod = ReturnType<Stage["pod"]>;
type Attached = Attaching & { readonly pod: Pod };

const missingFirewall = missing(
  "the reconciler and firewall rules",
  referencePlugins("firewall"),
  command("iptables", "--version"),
);

const noFiles: LeftFiles = { leases: [], state: [], run: [] };

describe.skipIf(missingForMixed("the reconciler"))("the reconciler", () => {
  let node: ReconcileNode;
  let stage: Stage;
  beforeEach(async () => {
    node = new ReconcileNode();
    ({ stage } = node);
    await node.start();
  });
  afterEach(() => node.dispose());

  const attaching = (containerId: string, config: object = mixedNetwork(stage)): Attached => ({
    config,
    containerId,
    pod: stage.pod(),
  });
  async function attached(containerId: string, config?: object): Promise<Attached> {
    const each = attaching(containerId, config);
    await node.succeed("ADD", each);
    return each;
  }
  /** Deletes network namespaces and waits until the kernel has deleted their links, which happens asynchronously. */
  async function deleteNamespaces(...pods: readonly Pod[]): Promise<void> {
    const before = stage.left().links.length;
    for (const pod of pods) pod.dispose();
    await expect.poll(() => stage.left().links.length).toBe(before - pods.length);
  }
  const native = (ipam: object = {}): object =>
    stage.network([bridgeStep({ ipam: { type: "host-local", subnet: "10.10.0.0/24", dataDir: stage.leases, ...ipam } })]);
  const gatedNetwork = (): object => stage.network([{ type: "gated" }]);
  const scripted = (): { config: object; recorder: RecorderPlugin } => {
    const recorder = installRecorder(stage.plexus.cniPath, "recorder");
    return { recorder, config: stage.network([bridgeStep(), { type: "recorder" }]) };
  };

  describe("after a reboot", () => {
    test("RT-02 RT-10 releases the addresses of native and WASM IPAM and of secondary networks in the first round, before any call", async () => {
      const delegates = [
        { cniVersion: "1.0.0", name: "pods", plugins: [bridgeStep()] },
        {
          cniVersion: "1.0.0",
          name: "more",
          plugins: [bridgeStep({ bridge: "br1", ipam: { type: "host-local", subnet: "10.11.0.0/24", dataDir: stage.leases } })],
        },
      ];
      await attached("wasm");
      await attached("native", native());
      const both = await attached("both", stage.host({ delegates }));
      expect(leases(stage.leases)).toHaveLength(4);
      for (const pod of [both.pod]) pod.dispose();
      node.reboot();
      await node.start();
      await node.startAgent();
      expect(shownFindings((await node.round()).findings)).toEqual(
        Array.from({ length: 3 }, () => "attachment earlier-boot cleaned"),
      );
      expect(node.left()).toEqual(noFiles);
      expect(node.warnings.filter((text) => text.includes("cleaned"))).toHaveLength(3);
      // A late DEL of the runtime finds nothing to undo.
      await node.succeed("DEL", { ...both, pod: "" });
    });

    test("RT-10 keeps the attachment of a new pod at the namespace path of an old one", async () => {
      const old = await attached("old");
      // The new pod's namespace has the old pod's path.
      node.reboot("old");
      const fresh = { ...attaching("fresh"), pod: old.pod };
      old.pod.exec(["ip", "link", "delete", "eth0"]);
      await node.succeed("ADD", fresh);
      await node.startAgent();
      expect(shownFindings((await node.round()).findings)).toEqual(["attachment earlier-boot cleaned"]);
      await node.succeed("CHECK", fresh);
      expect(old.pod.addresses().map(({ address }) => address)).toEqual(["10.10.0.3/24"]);
      expect(leases(stage.leases)).toEqual(["pods/10.10.0.3"]);
    });

    test.skipIf(missingFirewall)("RT-10 keeps the firewall rules of a pod that has the address of an earlier pod", async () => {
      symlinkSync(referencePlugin("firewall") ?? "", join(stage.plexus.cniPath, "firewall"));
      const ipam = { type: "host-local", subnet: "10.10.0.0/30", dataDir: stage.leases };
      const filtered = (first: readonly object[] = []): object =>
        stage.network([...first, bridgeStep({ ipam }), { type: "firewall", backend: "iptables" }], {
          del: { tries: 1, seconds: 1 },
        });
      const accepted = (): readonly string[] =>
        stage.node
          .exec(["iptables", "-S", "CNI-FORWARD"])
          .stdout.split("\n")
          .filter((rule) => rule.includes("10.10.0.2/32"));
      await attached("old", filtered());
      node.reboot();
      // Some distributions keep leases in /run, which a reboot empties.
      rmSync(stage.leases, { recursive: true });
      const fresh = await attached("fresh", filtered());
      const rules = accepted();
      expect(rules).toHaveLength(2);
      await node.startAgent();
      expect(shownFindings((await node.round()).findings)).toEqual(["attachment earlier-boot cleaned"]);
      expect(accepted()).toEqual(rules);
      expect(leases(stage.leases)).toEqual(["pods/10.10.0.2"]);
      // The DEL of another pod is given up after its address was released.
      await node.succeed("DEL", fresh);
      const recorder = installRecorder(stage.plexus.cniPath, "recorder");
      const left = await attached("left", filtered([{ type: "recorder" }]));
      recorder.script("DEL", { exit: 1 }, 1);
      left.pod.dispose();
      expect((await node.call("DEL", { ...left, pod: "" })).stderr).toContain("ABANDONED");
      await attached("last", filtered());
      expect(accepted()).toEqual(rules);
      expect(shownFindings((await node.round()).findings)).toEqual(["abandoned given-up cleaned"]);
      expect(accepted()).toEqual(rules);
      expect(leases(stage.leases)).toEqual(["pods/10.10.0.2"]);
    });

    test("RT-02 without an agent reports findings and changes nothing", async () => {
      await attached("left");
      node.reboot();
      const before = node.contents();
      const report = await node.round();
      expect(report.agent).toBe(false);
      expect(report.findings).toMatchObject([{ why: "earlier-boot", handling: "reported", note: "no agent is connected" }]);
      expect(node.contents()).toEqual(before);
    });

    test("RT-02 undoes an entry even behind 300 entries that it cannot undo", async () => {
      await attached("zz");
      const entry = join(node.state, "journal", "zz@cluster@eth0");
      for (let index = 0; index < 300; index++) {
        const name = entry.replace("zz@cluster", `a${index}@unknown`);
        writeFileSync(
          name,
          readFileSync(entry, "utf8").replace('"zz"', `"a${index}"`).replace('"network":"cluster"', '"network":"unknown"'),
        );
      }
      node.reboot();
      await node.startAgent();
      await node.settle();
      expect(leases(stage.leases)).toEqual([]);
      expect(existsSync(entry)).toBe(false);
    });

    test("RT-02 without a stored configuration, or with an agent of another CNI_PATH, changes nothing", async () => {
      await attached("left");
      node.reboot();
      await node.startAgent({ CNI_PATH: stage.plexus.state("elsewhere") });
      expect((await node.round()).findings).toMatchObject([
        { handling: "reported", note: expect.stringContaining(stage.plexus.state("elsewhere")) },
      ]);
      rmSync(join(node.state, "configurations"), { recursive: true });
      await node.start();
      expect((await node.round()).findings).toMatchObject([
        { handling: "reported", note: "the daemon has not yet received configuration cluster in a call of the runtime" },
      ]);
      expect(leases(stage.leases)).toEqual(["pods/10.10.0.2"]);
    });
  });

  describe("of a namespace that ended without a DEL", () => {
    test("RT-02 releases the address after two rounds without the namespace, and a late DEL succeeds", async () => {
      await node.startAgent();
      const [dead, live] = [await attached("dead"), await attached("live")];
      expect((await node.round()).findings).toEqual([]);
      await deleteNamespaces(dead.pod);
      expect(shownFindings((await node.round()).findings)).toEqual(["attachment grace reported"]);
      expect(leases(stage.leases)).toHaveLength(2);
      expect(shownFindings((await node.round()).findings)).toEqual(["attachment namespace-gone cleaned"]);
      expect(leases(stage.leases)).toEqual(["pods/10.10.0.3"]);
      expect((await node.round()).findings).toEqual([]);
      await node.succeed("DEL", { ...dead, pod: "/run/netns/gone" });
      await node.succeed("CHECK", live);
      await node.succeed("DEL", live);
      expect(node.left()).toEqual(noFiles);
    });

    test("RT-02 keeps the address during the grace period", async () => {
      await node.start({ graceMs: 3_600_000 });
      await node.startAgent();
      const { pod } = await attached("dead");
      await node.round();
      await deleteNamespaces(pod);
      expect(shownFindings(await node.settle())).toEqual(["attachment grace reported"]);
      expect(leases(stage.leases)).toEqual(["pods/10.10.0.2"]);
    });

    test("RT-02 releases the address even if the clock was years ahead at the ADD, in this boot or an earlier one", async () => {
      await node.startAgent();
      // The first call runs alone: native bridge plugins that make the same bridge at once can fail.
      const all = [await attached("dead"), ...(await Promise.all([attached("earlier"), attached("live")]))];
      node.reboot("earlier");
      const ahead = new Date("2099-01-01T00:00:00Z");
      for (const { containerId } of all) {
        const path = join(node.state, "journal", `${containerId}@cluster@eth0`);
        writeFileSync(path, readFileSync(path, "utf8").replace(/"begun":"[^"]*"/u, `"begun":"${ahead.toISOString()}"`));
        utimesSync(path, ahead, ahead);
      }
      expect(shownFindings((await node.round()).findings)).toEqual(["attachment boot-unclear reported"]);
      await deleteNamespaces(...all.filter(({ containerId }) => containerId !== "live").map(({ pod }) => pod));
      expect(shownFindings(await node.settle())).toEqual([]);
      expect(leases(stage.leases)).toHaveLength(1);
      for (const each of all.slice(2)) await node.succeed("CHECK", each);
    });

    test("RT-02 does not trust an agent that has seen no namespace, because its directory may differ from the runtime's", async () => {
      const { pod } = await attached("dead");
      await deleteNamespaces(pod);
      await node.startAgent();
      expect(shownFindings(await node.settle())).toEqual(["attachment unsighted reported"]);
      // With the namespace of another pod the agent has proved that it sees the runtime's namespaces.
      await attached("new");
      expect(shownFindings(await node.settle())).toEqual([]);
      expect(leases(stage.leases)).toEqual(["pods/10.10.0.3"]);
    });

    test("FI-25: frees a full pool whose namespaces are all gone: the namespace of an ADD that fails shows what the agent sees", async () => {
      const full = native({ subnet: "10.10.0.0/30" });
      const { pod } = await attached("dead", full);
      await deleteNamespaces(pod);
      await node.start();
      await node.startAgent();
      expect(shownFindings(await node.settle())).toEqual(["attachment unsighted reported"]);
      const next = attaching("next", full);
      expect((await node.call("ADD", next)).status).toBe(1);
      await node.call("DEL", next);
      next.pod.dispose();
      expect(shownFindings(await node.settle())).toEqual([]);
      expect(node.left()).toEqual(noFiles);
      await attached("last", full);
    });

    test("FI-26: reports a living pod whose bridge or master is gone, until its DEL", async () => {
      await node.startAgent();
      const master = stage.node.exec(["ip", "link", "add", "up0", "type", "veth", "peer", "name", "up1"]);
      expect(master.stderr).toBe("");
      const upper = stage.network([
        { type: "macvlan", master: "up0", ipam: { type: "ipam-host-local", subnet: "10.11.0.0/24" } },
      ]);
      const [bridged, other, over] = [await attached("bridged"), await attached("other"), await attached("over", upper)];
      expect(await node.settle()).toEqual([]);
      for (const link of ["br0", "up0"]) expect(stage.node.exec(["ip", "link", "delete", link]).stderr).toBe("");
      const findings = await node.settle();
      expect(shownFindings(findings)).toEqual(Array.from({ length: 3 }, () => "link lost-link reported"));
      expect(findings.map(({ id, note }) => `${id}: ${note}`)).toEqual([
        "bridged@cluster@eth0 eth0: network default as eth0: link br0 of the node is gone",
        "other@cluster@eth0 eth0: network default as eth0: link br0 of the node is gone",
        expect.stringMatching(/^over@cluster@eth0 eth0: network default as eth0: the node's link \d+ below it is gone$/u),
      ]);
      // A new bridge has the name, and not the ports.
      expect(stage.node.exec(["ip", "link", "add", "br0", "type", "bridge"]).stderr).toBe("");
      expect((await node.settle())[0]?.note).toMatch(/veth\S+ is no port of bridge br0/u);
      // The native macvlan's DEL fails without its master.
      expect(stage.node.exec(["ip", "link", "add", "up0", "type", "veth", "peer", "name", "up1"]).stderr).toBe("");
      for (const each of [bridged, other, over]) await node.succeed("DEL", each);
      expect(await node.settle()).toEqual([]);
    });

    test("RT-02 does not use an agent in another network namespace than the node's", async () => {
      await node.startAgent({}, join(stage.plexus.cniPath, "plexus"));
      const [hidden, live, old] = [await attached("hidden"), await attached("live"), await attached("old")];
      expect(await node.settle()).toEqual([]);
      const inside = spawn("nsenter", [`--net=${hidden.pod.path}`, "--", "sleep", "600"], { stdio: "ignore" });
      try {
        await expect.poll(() => inside.pid !== undefined && readFileSync(`/proc/${inside.pid}/comm`, "utf8")).toBe("sleep\n");
        hidden.pod.dispose();
        node.reboot(old.containerId);
        const note = expect.stringContaining("in another network namespace than the runtime");
        expect(await node.settle()).toMatchObject([
          { handling: "reported", note },
          { handling: "reported", note },
        ]);
        expect(leases(stage.leases)).toHaveLength(3);
        await node.succeed("CHECK", live);
      } finally {
        inside.kill("SIGKILL");
        await once(inside, "exit");
      }
    });

    test("RT-02 does not take a namespace for gone if the agent lost its /proc", async () => {
      const apart = join(stage.plexus.directory, "apart");
      const program = `#!/bin/sh\nexec unshare --mount --propagation slave -- ${stage.entrance()} "$@"\n`;
      writeFileSync(apart, program, { mode: 0o755 });
      const agent = await node.startAgent({}, apart);
      const live = await attached("live");
      expect(await node.settle()).toEqual([]);
      spawnSync("nsenter", [`--mount=/proc/${agent.pid}/ns/mnt`, "--", "umount", "--lazy", "/proc"]);
      expect(await node.settle()).toEqual([]);
      await node.succeed("CHECK", live);
    });

    test("RT-02 does not trust an agent that does not get the runtime's new mounts, even if it sees earlier pods", async () => {
      const old = await attached("old");
      const apart = join(stage.plexus.directory, "apart");
      const program = `#!/bin/sh\nexec unshare --mount --propagation private -- ${stage.entrance()} "$@"\n`;
      writeFileSync(apart, program, { mode: 0o755 });
      await node.startAgent({}, apart);
      const fresh = await attached("fresh");
      expect(shownFindings(await node.settle())).toEqual(["attachment no-namespace reported"]);
      for (const each of [old, fresh]) await node.succeed("CHECK", each);
      expect(leases(stage.leases)).toHaveLength(2);
    });

    test.each([false, true])(
      "RT-02 keeps a pod whose namespace lives without its path, because the veth's peer exists (peer with another MAC: %j)",
      async (hasOtherMac) => {
        await node.startAgent();
        const each = await attached("hidden");
        const [veth = ""] = stage.left().links;
        // udev changes the MAC like this with MACAddressPolicy=persistent.
        if (hasOtherMac) stage.node.exec(["ip", "link", "set", veth, "address", "02:00:00:00:00:77"]);
        const inside = spawn("nsenter", [`--net=${each.pod.path}`, "--", "sleep", "600"], { stdio: "ignore" });
        try {
          await expect.poll(() => inside.pid !== undefined && readFileSync(`/proc/${inside.pid}/comm`, "utf8")).toBe("sleep\n");
          await node.round();
          each.pod.dispose();
          const findings = await node.settle();
          expect(findings).toMatchObject([
            { why: "namespace-gone", handling: "reported", note: expect.stringContaining("the host has its veth") },
          ]);
          expect(leases(stage.leases)).toEqual(["pods/10.10.0.2"]);
        } finally {
          inside.kill("SIGKILL");
          await once(inside, "exit");
        }
        await expect.poll(() => stage.left().links).toEqual([]);
        expect(shownFindings((await node.round()).findings)).toEqual(["attachment namespace-gone cleaned"]);
        expect(node.left()).toEqual(noFiles);
      },
    );

    test("RT-02 keeps both attachments of a path that a second container uses, until the namespace ends", async () => {
      await node.startAgent();
      const first = await attached("first");
      first.pod.exec(["ip", "link", "delete", "eth0"]);
      const second = { ...attaching("second"), pod: first.pod };
      await node.succeed("ADD", second);
      expect(shownFindings(await node.settle())).toEqual(["link lost-link reported"]);
      await node.succeed("CHECK", second);
      await deleteNamespaces(first.pod);
      expect(await node.settle()).toEqual([]);
      expect(node.left()).toEqual(noFiles);
    });

    test("RT-02 keeps the attachments of a network with disableGC", async () => {
      await node.startAgent();
      const delegates = [{ cniVersion: "1.0.0", name: "pods", disableGC: true, plugins: [bridgeStep()] }];
      const { pod } = await attached("kept", stage.host({ delegates }));
      await node.round();
      await deleteNamespaces(pod);
      expect(await node.settle()).toMatchObject([{ handling: "reported", note: expect.stringContaining("disableGC") }]);
      expect(leases(stage.leases)).toEqual(["pods/10.10.0.2"]);
    });
  });

  describe("of calls that were killed", () => {
    test("RT-02 ends a round whose agent is killed during a step, and the next agent finishes the undo", async () => {
      const gate = installGate(stage, "DEL");
      await attached("cut", gatedNetwork());
      node.reboot();
      const agent = await node.startAgent();
      const round = node.round();
      await gate.reached();
      await node.kill(agent);
      expect((await round).problems).toEqual([expect.stringContaining("the agent disconnected")]);
      expect((await node.round()).findings).toMatchObject([{ handling: "reported", note: "no agent is connected" }]);
      gate.open();
      await node.startAgent();
      expect(shownFindings((await node.round()).findings)).toEqual(["attachment earlier-boot cleaned"]);
      expect(gate.calls()).toEqual(["ADD", "DEL", "DEL"]);
      expect(node.left()).toEqual(noFiles);
    });

    test("RT-02 removes old unfinished files and keeps recent ones", async () => {
      await node.startAgent();
      const live = await attached("live");
      const old = new Date(Date.now() - 3_600_000);
      const torn = ["journal/.dead@cluster@eth0", "results/.pods-dead-eth0"].map((name) => join(node.state, name));
      for (const path of torn) writeFileSync(path, '{"kind":"plexusJ');
      expect((await node.round()).findings).toEqual([]);
      for (const path of torn) utimesSync(path, old, old);
      expect(shownFindings((await node.round()).findings)).toEqual(
        Array.from({ length: 2 }, () => "leftover killed-call cleaned"),
      );
      expect(torn.filter((path) => existsSync(path))).toEqual([]);
      await node.succeed("CHECK", live);
    });

    test("RT-02 reports a damaged entry and changes nothing", async () => {
      await node.startAgent();
      await attached("damaged");
      writeFileSync(join(node.state, "journal", "damaged@cluster@eth0"), "what was this?\n");
      const before = node.contents();
      expect(shownFindings(await node.settle())).toEqual(["damaged unreadable reported"]);
      expect(node.contents()).toEqual(before);
    });
  });

  describe("of attachments that cannot be undone now", () => {
    test("RT-07 repeats a failed undo at once in a requested round, because its cause may have been removed", async () => {
      const { config, recorder } = scripted();
      await attached("mended", config);
      recorder.script("DEL", { stdout: '{"cniVersion":"1.0.0","code":105,"msg":"the backend is gone"}', exit: 1 });
      node.reboot();
      await node.startAgent();
      expect(shownFindings((await node.round()).findings)).toEqual(["attachment earlier-boot failed"]);
      const { reconciler } = node.daemon;
      expect(shownFindings((await reconciler.round(false, true)).findings)).toEqual(["attachment earlier-boot failed"]);
      rmSync(`${recorder.path}.script`, { recursive: true });
      expect(shownFindings((await reconciler.round(true, true)).findings)).toEqual(["attachment earlier-boot dry-run"]);
      // A requested round shares neither a periodic round in progress, which pauses failed entries, nor a dry run.
      const [paused, dry, asked] = await Promise.all([node.round(), reconciler.round(true, true), reconciler.round(false, true)]);
      expect([shownFindings(paused.findings), shownFindings(dry.findings), shownFindings(asked.findings)]).toEqual([
        ["attachment earlier-boot paused"],
        ["attachment earlier-boot dry-run"],
        ["attachment earlier-boot cleaned"],
      ]);
      expect(node.left()).toEqual(noFiles);
    });

    test("RT-07 repeats a failed undo only after a pause", async () => {
      const { config, recorder } = scripted();
      await attached("stuck", config);
      recorder.clear();
      recorder.script("DEL", { stdout: '{"cniVersion":"1.0.0","code":105,"msg":"the backend is gone"}', exit: 1 });
      node.reboot();
      await node.startAgent();
      expect((await node.round()).findings).toMatchObject([
        { handling: "failed", note: expect.stringContaining("the backend is gone") },
      ]);
      expect(shownFindings((await node.round()).findings)).toEqual(["attachment earlier-boot paused"]);
      expect(recorder.calls()).toHaveLength(1);
      rmSync(`${recorder.path}.script`, { recursive: true });
      // A restarted daemon has forgotten the pause.
      await node.start();
      expect(shownFindings((await node.round()).findings)).toEqual(["attachment earlier-boot cleaned"]);
      expect(node.left()).toEqual(noFiles);
    });

    test("RT-07 RT-09 finishes a failed DEL that the runtime sent after the journal was lost", async () => {
      const { config, recorder } = scripted();
      const { pod, ...each } = await attached("lost", config);
      rmSync(join(node.state, "journal", "lost@cluster@eth0"));
      recorder.script("DEL", { stdout: '{"cniVersion":"1.0.0","code":105,"msg":"the backend is gone"}', exit: 1 }, 1);
      await deleteNamespaces(pod);
      expect((await node.call("DEL", { ...each, pod: "" })).status).toBe(1);
      expect(leases(stage.leases)).toEqual(["pods/10.10.0.2"]);
      await node.startAgent();
      expect(shownFindings((await node.round()).findings)).toEqual(["attachment deleted cleaned"]);
      expect(node.left()).toEqual(noFiles);
    });

    test("RT-07 gives an attachment up after `del.tries`, and finishes the abandoned one when its plugin works", async () => {
      const { recorder } = scripted();
      const config = stage.network([bridgeStep(), { type: "recorder" }], { del: { tries: 1, seconds: 3600 } });
      await attached("stuck", config);
      recorder.script("DEL", { stdout: '{"cniVersion":"1.0.0","code":105,"msg":"the backend is gone"}', exit: 1 }, 1);
      node.reboot();
      await node.startAgent();
      expect(shownFindings((await node.round()).findings)).toEqual(["attachment earlier-boot given-up"]);
      expect(node.left().state).toEqual(["abandoned/1@stuck@cluster@eth0"]);
      expect(node.warnings.join("\n")).toContain("ABANDONED");
      expect(shownFindings((await node.round()).findings)).toEqual(["abandoned given-up cleaned"]);
      expect(node.left()).toEqual(noFiles);
    });

    test("RT-07 keeps the record of an abandoned attachment while its container is attached again", async () => {
      const { recorder } = scripted();
      const config = stage.network([{ type: "recorder" }, bridgeStep()], { del: { tries: 1, seconds: 1 } });
      const each = await attached("again", config);
      recorder.script("DEL", { stdout: '{"cniVersion":"1.0.0","code":105,"msg":"the backend is gone"}', exit: 1 });
      each.pod.dispose();
      expect((await node.call("DEL", { ...each, pod: "" })).stderr).toContain("ABANDONED");
      const again = { ...each, pod: stage.pod() };
      expect((await node.call("ADD", again)).status).toBe(0);
      rmSync(`${recorder.path}.script`, { recursive: true });
      await node.startAgent();
      expect((await node.round()).findings).toMatchObject([
        { kind: "abandoned", handling: "failed", note: expect.stringContaining("attached again") },
      ]);
      await node.succeed("CHECK", again);
    });
  });

  describe("during calls of the runtime", () => {
    test("RT-02 skips a container whose ADD is in progress, without waiting", async () => {
      const gate = installGate(stage, "ADD");
      const add = node.call("ADD", attaching("twice", gatedNetwork()));
      await gate.reached();
      // Makes this entry one of an earlier boot, and adds a second entry without a call in progress.
      const entry = join(node.state, "journal", "twice@cluster@eth0");
      writeFileSync(entry.replace("twice", "idle"), readFileSync(entry, "utf8").replaceAll("twice", "idle"));
      node.reboot();
      // The end of a call stores the configuration.
      await node.succeed("DEL", { config: gatedNetwork(), containerId: "other", pod: "" });
      await node.startAgent();
      expect((await node.round()).findings.map(({ id, handling }) => [id, handling])).toEqual([
        ["idle@cluster@eth0", "cleaned"],
        ["twice@cluster@eth0", "busy"],
      ]);
      gate.open();
      expect((await add).status).toBe(0);
    });

    test("RT-02 makes the runtime's DEL wait for its own undo, after which DEL has nothing to do", async () => {
      const gate = installGate(stage, "DEL");
      const each = await attached("both", gatedNetwork());
      node.reboot();
      await node.startAgent();
      const round = node.round();
      await gate.reached();
      const del = node.succeed("DEL", { ...each, pod: "" });
      gate.open();
      expect(shownFindings((await round).findings)).toEqual(["attachment earlier-boot cleaned"]);
      await del;
      expect(node.left()).toEqual(noFiles);
    });

    test("RT-02 skips a container whose DEL is in progress", async () => {
      const gate = installGate(stage, "DEL");
      const each = await attached("both", gatedNetwork());
      node.reboot();
      await node.startAgent();
      const del = node.succeed("DEL", { ...each, pod: "" });
      await gate.reached();
      expect(shownFindings((await node.round()).findings)).toEqual(["attachment earlier-boot busy"]);
      gate.open();
      await del;
      expect(gate.calls()).toEqual(["ADD", "DEL"]);
      expect(node.left()).toEqual(noFiles);
    });

    test("MO-15 of a stopping daemon finishes while a new call is served by a one-shot engine", async () => {
      const { config, recorder } = scripted();
      await attached("stale", config);
      node.reboot();
      await node.startAgent();
      recorder.clear();
      recorder.hold("DEL", 1);
      const round = node.round();
      await expect.poll(() => recorder.calls().length).toBe(1);
      // The ADD takes longer than the daemon remains.
      recorder.script("ADD", { sleepMs: 4000 }, 1);
      const stopped = node.daemon.stop(2000);
      const { containerId, pod } = attaching("late", config);
      const late = { verb: "ADD", config, containerId, ifname: "eth0", netns: pod.path };
      expect(await stage.request({ ...late, env: { PLEXUS_SOCKET: node.socket } })).toMatchObject({ status: 0 });
      expect(await stopped).toBe(0);
      await round;
    });

    test("RT-02 runs one round at a time; concurrent requests share it", async () => {
      const [one, other] = [node.round(), node.round()];
      expect(await one).toBe(await other);
    });
  });

  describe("of leases", () => {
    test("FI-22 releases the lease of an attachment without a journal entry after its namespace ended", async () => {
      await node.startAgent();
      const each = await attached("lost", native());
      await node.round();
      // The journal lost the entry of a running pod.
      rmSync(join(node.state, "journal", "lost@cluster@eth0"));
      expect(shownFindings(await node.settle())).toEqual(["lease kept-lease reported"]);
      expect(leases(stage.leases)).toEqual(["pods/10.10.0.2"]);
      await deleteNamespaces(each.pod);
      expect(shownFindings(await node.settle())).toEqual([]);
      expect(leases(stage.leases)).toEqual([]);
    });

    test("FI-16: frees the lease that a plugin's DEL without a namespace leaves", async () => {
      await node.startAgent();
      const recorder = installRecorder(stage.plexus.cniPath, "recorder");
      const ipam = { type: "host-local", subnet: "10.10.0.0/24", dataDir: stage.leases };
      const kept = await attached("kept", stage.network([{ type: "recorder", ipam }]));
      mkdirSync(join(stage.leases, "pods"), { recursive: true });
      writeFileSync(join(stage.leases, "pods", "10.10.0.9"), "kept\r\neth0");
      const other = await attached("other", native());
      await node.round();
      kept.pod.dispose();
      await node.round();
      expect(shownFindings((await node.round()).findings)).toEqual(["attachment namespace-gone cleaned"]);
      expect(recorder.calls().map(({ env }) => env["CNI_COMMAND"])).toEqual(["ADD", "DEL"]);
      expect(leases(stage.leases)).toEqual(["pods/10.10.0.2"]);
      expect(await node.settle()).toEqual([]);
      await node.succeed("CHECK", other);
    });

    test("FI-16: leaves nothing to a round if DEL comes before the daemon or between two rounds", async () => {
      installRecorder(stage.plexus.cniPath, "recorder");
      const ipam = { type: "host-local", subnet: "10.10.0.0/24", dataDir: stage.leases };
      const config = stage.network([{ type: "recorder", ipam }]);
      const kept = await attached("kept", config);
      mkdirSync(join(stage.leases, "pods"), { recursive: true });
      writeFileSync(join(stage.leases, "pods", "10.10.0.9"), "kept\r\neth0");
      // A daemon that never had a round serves the DEL, and another one begins afterwards.
      await node.start();
      expect((await node.call("DEL", { ...kept, pod: "" })).status).toBe(0);
      await node.start();
      await node.startAgent();
      expect([await node.settle(), leases(stage.leases), node.left()]).toEqual([[], [], noFiles]);
    });

    test("FI-22: frees 200 leases without an owner, in a pool that is so full that no pod attaches, and no other lease", async () => {
      const subnet = { type: "host-local", subnet: "10.10.0.0/24", dataDir: stage.leases };
      const config = stage.network([bridgeStep({ ipam: subnet })]);
      const live = await attached("live", config);
      await node.round();
      // A power loss: the files of 199 leases are empty, some are full of zeros, and one belongs to another program.
      for (let host = 3; host < 203; host++)
        writeFileSync(join(stage.leases, "pods", `10.10.0.${host}`), host % 10 === 0 ? "\0".repeat(70) : "");
      for (let host = 203; host < 255; host++) writeFileSync(join(stage.leases, "pods", `10.10.0.${host}`), "4f5e\r\neth0");
      await node.succeed("DEL", live);
      writeFileSync(join(stage.leases, "pods", "10.10.0.2"), "4f5e\r\neth0");
      // The journal is empty, and the daemon is new: nothing in its memory names the directory.
      await node.start();
      const first = (await node.round()).findings.filter(({ why }) => why === "ownerless");
      expect([first.length, new Set(shownFindings(first))]).toEqual([200, new Set(["lease ownerless reported"])]);
      const second = (await node.round()).findings.filter(({ why }) => why === "ownerless");
      expect([second.length, new Set(shownFindings(second))]).toEqual([200, new Set(["lease ownerless cleaned"])]);
      expect(leases(stage.leases)).toHaveLength(53);
      await node.succeed("ADD", attaching("late", config));
    });

    test("FI-22: a dry run, and a round while host-local holds its lock, keep a lease without an owner", async () => {
      await attached("live", native());
      await node.round();
      const path = join(stage.leases, "pods", "10.10.0.9");
      writeFileSync(path, "");
      await node.round();
      const only = (await node.daemon.reconciler.round(true)).findings;
      expect(shownFindings(only)).toEqual(["lease ownerless dry-run"]);
      const { lock } = lockSync({ path: join(stage.leases, "pods", "lock"), deadlineMs: 0, shared: false });
      expect(shownFindings((await node.round()).findings)).toEqual(["lease ownerless busy"]);
      // The holder writes the owner before it releases the lock.
      writeFileSync(path, "slow\r\neth0");
      lock?.release();
      expect(shownFindings(await node.settle())).toEqual(["lease not-ours reported"]);
      expect(readFileSync(path, "utf8")).toBe("slow\r\neth0");
    });

    test("FI-16: looks for leases of a component in the directory that its grant names", async () => {
      await node.startAgent();
      await attached("live");
      await node.round();
      const foreign = join(stage.leases, "pods", "10.10.0.77");
      writeFileSync(foreign, "4f5e\r\neth0");
      expect(await node.settle()).toMatchObject([{ kind: "lease", id: foreign, why: "not-ours", handling: "reported" }]);
    });

    test("FI-22 reports and keeps a lease whose owner the journal never had", async () => {
      await node.startAgent();
      await attached("live", native());
      const foreign = join(stage.leases, "pods", "10.10.0.77");
      writeFileSync(foreign, "4f5e\r\neth0");
      const findings = await node.settle();
      expect(findings).toMatchObject([{ kind: "lease", id: foreign, why: "not-ours", handling: "reported" }]);
      expect(readFileSync(foreign, "utf8")).toBe("4f5e\r\neth0");
    });
  });

  test("RT-02 RT-10 of random attachments undoes the dead ones and changes no byte of the others", async () => {
    await node.startAgent();
    const draw = randomFrom(testSeed("random attachments", 20_261_121));
    const random = (below: number): number => Math.floor(draw() * below);
    const networks = [mixedNetwork(stage), native()];
    const kinds = ["live", "dead", "rebooted", "foreign"] as const;
    const all: { readonly kind: (typeof kinds)[number]; readonly each: Attached }[] = [];
    const foreign = new Map<string, string>();
    for (let index = 0; index < 16; index++) {
      // Each kind occurs at least twice.
      const kind = index < 8 ? kinds[index % 4] : kinds[random(4)];
      if (kind === undefined) continue;
      if (kind === "foreign") {
        const path = join(stage.leases, "pods", `10.10.0.${200 + index}`);
        foreign.set(path, random(2) === 0 ? `foreign-${index}\r\neth0` : `foreign-${index}`);
      } else all.push({ kind, each: await attached(`${kind}-${index}`, networks[random(2)]) });
    }
    for (const [path, content] of foreign) writeFileSync(path, content);
    const ofKind = (kind: string): readonly Attached[] => all.filter((one) => one.kind === kind).map(({ each }) => each);
    await node.round();
    await deleteNamespaces(...[...ofKind("dead"), ...ofKind("rebooted")].map(({ pod }) => pod));
    node.reboot(...ofKind("rebooted").map(({ containerId }) => containerId));
    const before = node.contents();
    const findings = await node.settle();
    expect(new Set(shownFindings(findings))).toEqual(new Set(["lease not-ours reported"]));
    const deadIds = [...ofKind("dead"), ...ofKind("rebooted")].map(({ containerId }) => containerId);
    const after = node.contents();
    const belongsToDead = ([path, content]: readonly [string, string]): boolean =>
      deadIds.some((id) => path.includes(id) || content.includes(`${id}\r\n`));
    const kept = (files: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
      new Map([...files].filter((file) => !belongsToDead(file) && !changesWithEveryCall(file[0])));
    expect(kept(after)).toEqual(kept(before));
    expect([...after].filter(belongsToDead)).toEqual([]);
    for (const [path, content] of foreign) expect(readFileSync(path, "utf8")).toBe(content);
    for (const each of ofKind("live")) await node.succeed("CHECK", each);
    for (const each of ofKind("live")) await node.succeed("DEL", each);
    expect(leases(stage.leases)).toHaveLength(foreign.size);
  });

  test("RT-02 in a dry run reports what it would undo and changes nothing", async () => {
    await attached("rebooted");
    node.reboot();
    await node.start({ dryRun: true });
    await node.startAgent();
    const dead = await attached("dead");
    await node.round();
    await deleteNamespaces(dead.pod);
    const before = node.contents();
    expect(shownFindings(await node.settle()).toSorted()).toEqual([
      "attachment earlier-boot dry-run",
      "attachment namespace-gone dry-run",
    ]);
    expect(node.contents()).toEqual(before);
    expect(node.warnings.join("\n")).toContain("would be cleaned");
  });
});

interface Gate {
  /** Resolves when the plugin was called with the gated verb. */
  reached(): Promise<void>;
  open(): void;
  /** The verbs that the plugin was called with. */
  calls(): readonly string[];
}

/** Installs the plugin `gated`, which waits in this verb until `open` is called. */
function installGate(stage: Stage, verb: string): Gate {
  const [calls, opened] = ["calls", "open"].map((name) => join(stage.plexus.directory, `gate-${name}`)) as [string, string];
  const script = `#!/bin/sh
echo "$CNI_COMMAND" >> '${calls}'
if [ "$CNI_COMMAND" = ${verb} ]; then while [ ! -e '${opened}' ]; do sleep 0.05; done; fi
if [ "$CNI_COMMAND" = ADD ]; then echo '{"cniVersion":"1.0.0","ips":[{"address":"10.99.0.2/24"}]}'; fi
`;
  writeFileSync(join(stage.plexus.cniPath, "gated"), script, { mode: 0o755 });
  const recordedVerbs = (): readonly string[] => (existsSync(calls) ? readFileSync(calls, "utf8").trim().split("\n") : []);
  return {
    reached: () => expect.poll(recordedVerbs).toContain(verb),
    open: () => writeFileSync(opened, ""),
    calls: recordedVerbs,
  };
}

/** Files of host-local that every call of a network changes, and the kept configuration: the last call's replaces it some seconds later. */
function changesWithEveryCall(path: string): boolean {
  return path.endsWith("/lock") || path.includes("last_reserved_ip") || path.includes("/configurations/");
}
