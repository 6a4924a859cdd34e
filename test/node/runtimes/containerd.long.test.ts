// Plexus as the only CNI plugin of a real container runtime: Debian's containerd, and a newer release that calls STATUS.

import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { NodeNetworks } from "../../../features/network-api/server/node-networks.ts";
import { dist } from "../../lab/plexus.ts";
import { installRecorder } from "../../lab/recorder.ts";
import { manifestsIn, type Manifests } from "../../lab/manifests.ts";
import { bridgeStep, shaperStep, tuningStep } from "../../lab/mixed-network.ts";
import { processesNaming } from "../../lab/processes.ts";
import { nothing, shown, type Stage } from "../../lab/stage.ts";
import { openCriNode, type CriNode } from "../../lab/containerd/cri-node.ts";
import { callingStatus, distributions, installation, missingRuntime } from "../../lab/containerd/runtimes.ts";

describe.each([distributions, callingStatus])("in $name", (runtime) => {
  const { path, cniVersion } = runtime;
  const skip = missingRuntime("pods", runtime);

  describe.skipIf(skip)("Plexus", () => {
    let node: CriNode;
    let stage: Stage;
    let manifests: Manifests;
    beforeAll(async () => {
      // Sandbox processes are the first runtime's matter: a start for each component of each call takes long.
      node = await openCriNode(path(), { ...installation, serving: runtime === distributions ? "daemon" : "one-shot" });
      stage = node.stage;
      manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
    });
    afterAll(async () => node?.dispose());

    /** A host configuration whose default network has the mixed chain. The network's version is 1.0.0, which the reference plugins support. */
    const configuration = (
      more: object = {},
      plugins: readonly object[] = [bridgeStep(), shaperStep, tuningStep(stage)],
    ): object =>
      stage.host({
        cniVersion,
        manifests: manifests.directory,
        delegates: [{ cniVersion: "1.0.0", name: "pods", plugins }],
        ...more,
      });

    beforeEach(async () => {
      await node.configure(configuration(), cniVersion);
      stage.steps();
    });

    const natRules = (): string => {
      const { status, stdout, stderr } = stage.node.exec(["iptables-save", "-t", "nat"]);
      if (status !== 0) throw new Error(`iptables-save ended with ${status}: ${stderr}`);
      return stdout;
    };

    const defineNetworks = (): void => {
      const shaped = { type: "status-shaper", ips: { order: ["6", "4"] } };
      const both = { type: "ipam-host-local", ranges: [[{ subnet: "10.20.0.0/24" }], [{ subnet: "fd00:20::/64" }]] };
      manifests.network("storage", [{ type: "bridge", bridge: "br-storage", ipam: both }, shaped]);
      const native = { type: "host-local", dataDir: stage.leases, subnet: "10.21.0.0/24" };
      manifests.network("backup", [
        { type: "bridge", bridge: "br-backup", ipam: native },
        { type: "status-shaper" },
        { type: "tuning", mtu: 1300, dataDir: stage.tuning },
      ]);
      manifests.network("uplink", [{ type: "ptp", ipam: { type: "ipam-host-local", subnet: "10.30.0.0/24" } }]);
    };

    test("RT-01 runs pods with a default network and three secondary networks, which ping each other on every network", async () => {
      defineNetworks();
      manifests.pod("web", "storage, backup@data0, uplink");
      manifests.pod("db", [{ name: "storage" }, { name: "backup", interface: "data0" }, { name: "uplink", interface: "up0" }]);
      const web = await node.run("web");
      // Native and WASM steps in one list and as nested calls.
      expect(shown(stage.steps())).toEqual([
        "ADD ipam-host-local wasm nested",
        "ADD bridge native",
        "ADD status-shaper wasm",
        "ADD tuning native",
        "ADD ipam-host-local wasm nested",
        "ADD bridge native",
        "ADD status-shaper wasm",
        "ADD bridge native",
        "ADD status-shaper wasm",
        "ADD tuning native",
        "ADD ipam-host-local wasm nested",
        "ADD ptp native",
      ]);
      const db = await node.run("db");
      try {
        // The runtime gets only the default network's result (NPWG 6.2) with the address of `eth0`.
        const eth0Addresses = web.addresses().filter(({ link }) => link === "eth0");
        expect(eth0Addresses.map(({ address }) => address)).toEqual([`${web.ips[0]}/24`]);
        expect([web.ips.length, db.ips.length]).toEqual([1, 1]);
        expect(web.links().map((link) => link.name)).toEqual(["eth0", "net1", "data0", "net3"]);
        expect(db.links().map((link) => link.name)).toEqual(["eth0", "net1", "data0", "up0"]);

        const addressesOf = (link: string): readonly string[] =>
          db
            .addresses()
            .filter((each) => each.link === link)
            .map(({ address }) => address.slice(0, address.indexOf("/")));
        const targets = ["eth0", "net1", "data0", "up0"].flatMap(addressesOf);
        expect(targets).toHaveLength(5);
        for (const ip of targets) await expect.poll(() => web.ping(ip), { message: ip }).toBe(true);
        expect(manifests.statusOf("db")).toMatchObject([
          { name: "pods", interface: "eth0", default: true, ips: db.ips },
          { name: "shop/storage", interface: "net1", ips: addressesOf("net1").toReversed() },
          { name: "shop/backup", interface: "data0", ips: addressesOf("data0") },
          { name: "shop/uplink", interface: "up0", ips: addressesOf("up0") },
        ]);
      } finally {
        for (const sandbox of [web, db]) await node.remove(sandbox);
      }
    });

    test("CR-06 CR-07: sandboxes between Set and Remove of a network use the network, and end cleanly after its removal", async () => {
      const networks = new NodeNetworks(
        join(stage.plexus.directory, "state", "cni"),
        join(stage.plexus.directory, "no-network"),
        undefined,
        () => undefined,
      );
      const ipam = JSON.stringify({ type: "host-local", dataDir: stage.leases });
      const plugins = [{ type: "ptp", capabilities: [], parameters: { ipam } }];
      const config = {
        metadata: { name: "set", generation: 1 },
        ip_ranges: [{ cidr: "10.66.0.0/24" }],
        cniv1_config: { cni_version: "1.0.0", plugins },
      };
      await node.configure(stage.host({ cniVersion, clusterNetwork: "set" }), cniVersion);
      await expect(node.run("early")).rejects.toThrow(/set/);
      expect(networks.set(config)).toEqual({ ok: true, value: [] });
      const sandbox = await node.run("late");
      expect(sandbox.ips).toEqual(["10.66.0.2"]);
      expect(networks.remove(config.metadata)).toEqual({ ok: true, value: undefined });
      await node.remove(sandbox);
      expect(stage.left()).toEqual(nothing);
    });

    test("StopPodSandbox undoes all attachments and can be repeated; RemovePodSandbox then succeeds twice", async () => {
      defineNetworks();
      manifests.pod("web", "storage, backup");
      const web = await node.run("web");
      expect(stage.left().leases).toHaveLength(4);
      const stop = (): Promise<object> => node.containerd.client.call("StopPodSandbox", { podSandboxId: web.id });
      await stop();
      expect(stage.left()).toEqual(nothing);
      await stop();
      await stop();
      await node.containerd.client.call("RemovePodSandbox", { podSandboxId: web.id });
      await node.containerd.client.call("RemovePodSandbox", { podSandboxId: web.id });
      expect((await node.containerd.client.call("ListPodSandbox", {})).items).toEqual([]);
    });

    test("MO-05 MO-06 StopPodSandbox works without the pod's and the definitions' manifests", async () => {
      defineNetworks();
      manifests.pod("web", "storage, backup");
      const web = await node.run("web");
      for (const file of readdirSync(manifests.directory)) rmSync(join(manifests.directory, file), { recursive: true });
      await node.remove(web);
      expect(stage.left()).toEqual(nothing);
    });

    test.each([
      ["selects an absent network", "nowhere", /nowhere/],
      ["has an invalid selection", '[{"name": }]', /k8s\.v1\.cni\.cncf\.io\/networks/],
      ["selects a network whose last step fails", "storage, broken", /no.such.thing/],
    ])("N1-64 RunPodSandbox of a pod that %s fails with the reason and leaves nothing", async (_, selection, why) => {
      await node.configure(configuration({ invalidAnnotation: "fail" }), cniVersion);
      defineNetworks();
      manifests.network("broken", [
        { type: "bridge", bridge: "br-broken", ipam: { type: "ipam-host-local", subnet: "10.40.0.0/24" } },
        { type: "tuning", dataDir: stage.tuning, sysctl: { "net.no.such.thing": "1" } },
      ]);
      manifests.pod("bad", selection);
      await expect(node.run("bad")).rejects.toThrow(why);
      expect(stage.left()).toEqual(nothing);
      expect((await node.containerd.client.call("ListPodSandbox", {})).items).toEqual([]);
    });

    test("RT-03 RT-07 StopPodSandbox fails as long as DEL fails, whatever the plugin's message is", async () => {
      const keeper = installRecorder(stage.plexus.cniPath, "keeper");
      await node.configure(configuration({}, [bridgeStep(), { type: "keeper" }]), cniVersion);
      manifests.pod("web");
      const web = await node.run("web");
      // go-cni treats an error message with these words as a success of DEL.
      const error = { cniVersion: "1.0.0", code: 100, msg: "switch port not found: no such file or directory" };
      keeper.script("DEL", { stdout: JSON.stringify(error), exit: 1 });
      const stop = (): Promise<object> => node.containerd.client.call("StopPodSandbox", { podSandboxId: web.id });
      await expect(stop()).rejects.toThrow(/switch port not-found: no-such-file-or-directory/);
      expect(stage.left().state).not.toEqual([]);
      keeper.script("DEL", { stdout: "", exit: 0 });
      await stop();
      await node.remove(web);
      expect(stage.left()).toEqual(nothing);
    });

    test("MC-17 MC-18 the default network gets the capability arguments that Plexus' configuration declares, such as a host port", async () => {
      const portmap = { type: "portmap", capabilities: { portMappings: true }, snat: false };
      await node.configure(
        configuration({ capabilities: { portMappings: true } }, [bridgeStep(), shaperStep, portmap]),
        cniVersion,
      );
      manifests.pod("web");
      const web = await node.run("web", { portMappings: [{ protocol: 0, containerPort: 80, hostPort: 8080 }] });
      try {
        expect(natRules()).toMatch(
          new RegExp(`--dport 8080 -j DNAT --to-destination ${web.ips[0]?.replaceAll(".", "\\.")}:80`, "u"),
        );
      } finally {
        await node.remove(web);
      }
      expect(natRules()).not.toContain("8080");
    });

    test("MO-26 after plexusctl uninstall the next pods get the other network within half a minute", async () => {
      const ipam = { type: "host-local", dataDir: stage.leases, subnet: "10.50.0.0/24" };
      const plugins = [{ type: "bridge", bridge: "br-native", ipam }];
      node.configurationFile("20-native.conflist", JSON.stringify({ cniVersion: "1.0.0", name: "native", plugins }));
      const netD = join(stage.plexus.directory, "net.d");
      const locationArgs = ["--config", netD, "--cni-path", stage.plexus.cniPath, "--status-socket", join(netD, "none")];
      const result = spawnSync(process.execPath, [join(dist, "plexusctl.cjs"), "uninstall", ...locationArgs], {
        encoding: "utf8",
      });
      try {
        expect(result.stdout).toContain(`new pods get the network of ${join(netD, "20-native.conflist")}\n`);
        const inNative = async (): Promise<boolean> => {
          const pod = await node.run("web");
          await node.remove(pod);
          return pod.ips[0]?.startsWith("10.50.0.") ?? false;
        };
        await expect.poll(inNative).toBe(true);
      } finally {
        node.configurationFile("20-native.conflist");
        node.configurationFile("10-plexus.conflist.uninstalled");
      }
      expect(stage.left()).toEqual(nothing);
    });

    test("N1-67 runs and stops eight pods with two networks each concurrently", async () => {
      defineNetworks();
      const names = Array.from({ length: 8 }, (_, index) => `many-${index}`);
      for (const each of names) manifests.pod(each, "storage");
      const sandboxes = await Promise.all(names.map((each) => node.run(each)));
      const addresses = sandboxes.flatMap((sandbox) => sandbox.addresses().map(({ address }) => address));
      expect([addresses.length, new Set(addresses).size]).toEqual([24, 24]);
      expect(sandboxes[0]?.ping(sandboxes[7]?.ips[0] ?? "")).toBe(true);
      await Promise.all(sandboxes.map((sandbox) => node.remove(sandbox)));
      expect(stage.left()).toEqual(nothing);
    });

    test("RT-05 an invalid configuration file makes the network not ready; Plexus' file, renamed into place, makes it ready", async () => {
      node.configurationFile("10-plexus.conflist");
      node.configurationFile("05-torn.conflist", '{"cniVersion": "1.0.0", "name": "cluster", "plug');
      await expect.poll(async () => (await node.networkReady())?.status).toBe(false);
      node.configurationFile("05-torn.conflist");
      await node.configure(configuration(), cniVersion);
      await expect.poll(async () => (await node.networkReady())?.status).toBe(true);
    });
  });

  test.skipIf(skip)("all processes of containerd end with containerd", async () => {
    const node = await openCriNode(path(), installation);
    try {
      await node.configure(node.stage.network([bridgeStep()]));
      const { id } = await node.run("left");
      expect(processesNaming(id)).not.toEqual([]);
      await node.containerd.stop();
      expect(processesNaming(id)).toEqual([]);
    } finally {
      await node.dispose();
    }
  });
});
