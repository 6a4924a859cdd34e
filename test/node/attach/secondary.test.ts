// A pod's secondary networks, from the selection annotation to the network status, through the installed binary.

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { leases } from "../../lab/namespaces.ts";
import { callsInOrder, installRecorders, type RecordedCall, type RecorderPlugin } from "../../lab/recorder.ts";
import { manifestsIn, type Manifests } from "../../lab/manifests.ts";
import { bridgeStep, missingForMixed, mixedInstallation, shaperStep } from "../../lab/mixed-network.ts";
import { nothing, openStage, type Attaching, type Stage } from "../../lab/stage.ts";

function stdinOf(call: RecordedCall | undefined): unknown {
  return JSON.parse(call?.stdin ?? "null");
}

describe.skipIf(missingForMixed("secondary networks"))("secondary networks", () => {
  let stage: Stage;
  let manifests: Manifests;
  beforeEach(() => {
    stage = openStage(mixedInstallation);
    manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
  });
  afterEach(() => stage.dispose());

  /** A pod of the manifests, whose default network has these plugins. */
  const attaching = (name: string, plugins: readonly object[]): Attaching & { readonly pod: ReturnType<Stage["pod"]> } => ({
    config: stage.network(plugins, { manifests: manifests.directory }),
    containerId: `ctr-${name}`,
    pod: stage.pod(),
    args: manifests.argsOf(name),
  });

  describe("of real plugins", () => {
    const storageIpam = { type: "ipam-host-local", ranges: [[{ subnet: "10.20.0.0/24" }], [{ subnet: "fd00:20::/64" }]] };
    const storage = {
      type: "bridge",
      bridge: "br-storage",
      capabilities: { ips: true, mac: true },
      ipam: storageIpam,
    };

    test("N1-17, N1-18, N1-19, N1-36, N12-03, MA-02, MA-07, MO-05: are attached for both formats of the annotation, ping each other, are published in the status, and are deleted", async () => {
      manifests.network("storage", [storage, { type: "status-shaper", ips: { order: ["6", "4"] } }]);
      manifests.network("uplink", [{ type: "ptp", ipam: { type: "ipam-host-local", subnet: "10.30.0.0/24" } }]);
      manifests.pod("web", "storage, shop/uplink@up0");
      manifests.pod("db", [{ name: "storage", interface: "data0" }, { name: "uplink" }]);
      const [web, db] = [attaching("web", [bridgeStep(), shaperStep]), attaching("db", [bridgeStep(), shaperStep])];

      const added = await stage.succeed("ADD", web);
      // The runtime gets only the default network's result (NPWG 6.2).
      expect(added.json).toMatchObject({ ips: [{ address: "10.10.0.2/24" }], interfaces: [{}, {}, { name: "eth0" }] });
      // CHECK precedes the second pod, because a bridge without its own MAC takes the lowest MAC of its ports.
      await stage.succeed("CHECK", web);
      await stage.succeed("ADD", db);
      expect(web.pod.links().map((link) => link.name)).toEqual(["eth0", "net1", "up0"]);
      expect(db.pod.links().map((link) => link.name)).toEqual(["eth0", "data0", "net2"]);
      expect([web.pod.ping("10.10.0.3"), web.pod.ping("10.20.0.3"), db.pod.ping("10.20.0.2")]).toEqual([true, true, true]);

      const macs = Object.fromEntries(web.pod.links().map(({ name, mac }) => [name, mac]));
      expect(manifests.statusOf("web")).toMatchObject([
        { name: "pods", interface: "eth0", ips: ["10.10.0.2"], mac: macs["eth0"], default: true, dns: shaperStep.dns },
        { name: "shop/storage", interface: "net1", ips: ["fd00:20::2", "10.20.0.2"], mac: macs["net1"], default: false },
        { name: "shop/uplink", interface: "up0", ips: ["10.30.0.2"], mac: macs["up0"], default: false },
      ]);
      expect(manifests.statusOf("db")).toMatchObject([{ interface: "eth0" }, { interface: "data0" }, { interface: "net2" }]);
      await stage.succeed("DEL", web);
      expect([web.pod.links(), db.pod.links().length]).toEqual([[], 3]);
      // DEL needs neither the cluster nor the definitions.
      rmSync(manifests.directory, { recursive: true });
      await stage.succeed("DEL", db);
      expect([db.pod.links(), stage.left()]).toEqual([[], nothing]);
    });

    test("N1-25, N1-28, N1-29: the pod gets the requested IP addresses, MAC and interface name", async () => {
      manifests.network("storage", [storage]);
      const mac = "02:00:00:00:20:77";
      manifests.pod("web", [{ name: "storage", interface: "data0", mac, ips: ["10.20.0.77", "fd00:20::77/64"] }]);
      const web = attaching("web", [bridgeStep()]);
      await stage.succeed("ADD", web);
      expect(web.pod.links()).toMatchObject([{ name: "eth0" }, { name: "data0", mac }]);
      expect(web.pod.addresses().filter(({ link }) => link === "data0")).toEqual([
        { link: "data0", address: "10.20.0.77/24", scope: "global" },
        { link: "data0", address: "fd00:20::77/64", scope: "global" },
      ]);
      expect(leases(stage.leases)).toEqual(["pods/10.10.0.2", "storage/10.20.0.77", "storage/fd00:20::77"]);
      await stage.succeed("DEL", web);
      expect([web.pod.links(), stage.left()]).toEqual([[], nothing]);
    });

    test("a requested address that is in use fails ADD, and everything is undone", async () => {
      manifests.network("storage", [storage]);
      for (const name of ["web", "db"]) manifests.pod(name, [{ name: "storage", ips: ["10.20.0.77", "fd00:20::77"] }]);
      const [web, db] = [attaching("web", [bridgeStep()]), attaching("db", [bridgeStep()])];
      await stage.succeed("ADD", web);
      const before = leases(stage.leases);
      const added = await stage.call("ADD", db);
      expect([added.status, added.json?.["msg"]]).toEqual([1, expect.stringMatching(/shop\/storage as net1: .*10\.20\.0\.77/)]);
      expect([db.pod.links(), leases(stage.leases), manifests.statusOf("db")]).toEqual([[], before, undefined]);
      await stage.succeed("DEL", web);
      expect(stage.left()).toEqual(nothing);
    });
  });

  describe("of recorders", () => {
    let recorders: Record<"main" | "one" | "two" | "three", RecorderPlugin>;
    beforeEach(() => {
      const { cniPath } = stage.plexus;
      recorders = installRecorders(cniPath, "main", "one", "two", "three");
      for (const name of ["one", "two", "three"])
        manifests.network(name, [{ type: name, capabilities: { ips: true, mac: true } }]);
      manifests.pod("web", "one,two,three");
    });

    const executed = (): readonly string[] =>
      callsInOrder(Object.values(recorders)).map(({ env, plugin }) => `${env["CNI_COMMAND"]} ${plugin} ${env["CNI_IFNAME"]}`);

    test("N1-62, N1-65: ADD attaches the default network first and the others in order; DEL reverses this order", async () => {
      const web = attaching("web", [{ type: "main" }]);
      await stage.succeed("ADD", web);
      await stage.succeed("DEL", web);
      const added = ["ADD main eth0", "ADD one net1", "ADD two net2", "ADD three net3"];
      expect(executed()).toEqual([...added, ...added.toReversed().map((each) => each.replace("ADD", "DEL"))]);
      expect(stage.left()).toEqual(nothing);
    });

    test("N1-64, MO-09, MO-14: the second network's failure undoes the attempted networks and keeps its code; the third is never attempted", async () => {
      recorders.two.script("ADD", { stdout: '{"cniVersion":"1.0.0","code":111,"msg":"two is full"}', exit: 1 });
      const web = attaching("web", [{ type: "main" }]);
      const added = await stage.call("ADD", web);
      expect([added.status, added.json]).toMatchObject([
        1,
        { code: 111, msg: expect.stringMatching(/^network shop\/two as net2: plugin type="two" failed \(add\): two is full/) },
      ]);
      expect(executed()).toEqual([
        "ADD main eth0",
        "ADD one net1",
        "ADD two net2",
        "DEL two net2",
        "DEL one net1",
        "DEL main eth0",
      ]);
      expect([manifests.statusOf("web"), stage.left()]).toEqual([undefined, nothing]);
    });

    test("N1-65, N1-66: a failed DEL of one network does not prevent that of the others; the next DEL repeats only the failed one", async () => {
      const web = attaching("web", [{ type: "main" }]);
      await stage.succeed("ADD", web);
      for (const each of Object.values(recorders)) each.clear();
      recorders.two.script("DEL", { stdout: '{"cniVersion":"1.0.0","code":11,"msg":"not now"}', exit: 1 }, 1);
      const first = await stage.call("DEL", web);
      expect([first.status, first.json]).toMatchObject([1, { code: 11, msg: expect.stringMatching(/not now/) }]);
      expect(executed()).toEqual(["DEL three net3", "DEL two net2", "DEL one net1", "DEL main eth0"]);
      await stage.succeed("DEL", web);
      expect(executed().slice(4)).toEqual(["DEL two net2"]);
      expect(stage.left()).toEqual(nothing);
    });

    test("N1-65: the journal records each undone network before the next network's DEL begins", async () => {
      const web = attaching("web", [{ type: "main" }]);
      await stage.succeed("ADD", web);
      const undone = (): readonly string[] =>
        readFileSync(join(stage.plexus.state("cni"), "journal", "ctr-web@cluster@eth0"), "utf8").match(/"undone":\d/gu) ?? [];
      const release = recorders.two.hold("DEL");
      const deleted = stage.succeed("DEL", web);
      await expect.poll(executed).toContain("DEL two net2");
      expect([undone(), executed()]).toEqual([['"undone":3'], expect.not.arrayContaining(["DEL one net1"])]);
      release();
      await deleted;
      expect(stage.left()).toEqual(nothing);
    });

    test("N1-32, N11-03, N11-04, N11-06, N11-07, MO-07: an element's requests reach only its own network's plugins with the capability", async () => {
      const mac = "02:00:00:00:00:01";
      manifests.pod("web", [
        { name: "one", interface: "data0", mac, ips: ["10.99.0.2/24"], "cni-args": { color: "blue" } },
        { name: "two" },
      ]);
      recorders.one.script("ADD", {
        stdout: JSON.stringify({
          cniVersion: "1.0.0",
          interfaces: [{ name: "data0", mac, sandbox: "/any" }],
          ips: [{ address: "10.99.0.2/24", interface: 0 }],
        }),
      });
      const web = attaching("web", [{ type: "main" }]);
      await stage.succeed("ADD", web);
      expect(stdinOf(recorders.one.calls()[0])).toMatchObject({
        name: "one",
        runtimeConfig: { ips: ["10.99.0.2/24"], mac },
        args: { cni: { color: "blue" } },
      });
      expect(recorders.one.calls()[0]?.env).toMatchObject({ CNI_IFNAME: "data0", CNI_ARGS: manifests.argsOf("web") });
      for (const other of [recorders.main, recorders.two]) {
        expect(stdinOf(other.calls()[0])).not.toHaveProperty("runtimeConfig.ips");
        expect(stdinOf(other.calls()[0])).not.toHaveProperty("args");
      }
      await stage.succeed("DEL", web);
      // The journal gives DEL the same requests.
      expect(stdinOf(recorders.one.calls()[1])).toMatchObject({ runtimeConfig: { mac }, args: { cni: {} } });
      expect(stage.left()).toEqual(nothing);
    });

    test("N1-25: a result without the requested address fails ADD and is undone", async () => {
      manifests.pod("web", [{ name: "one", ips: ["10.99.0.77"] }]);
      const added = await stage.call("ADD", attaching("web", [{ type: "main" }]));
      expect([added.status, added.json]).toMatchObject([1, { code: 7, msg: expect.stringMatching(/shop\/one.*10\.99\.0\.77/) }]);
      expect(executed()).toEqual(["ADD main eth0", "ADD one net1", "DEL one net1", "DEL main eth0"]);
      expect([manifests.statusOf("web"), stage.left()]).toEqual([undefined, nothing]);
    });

    test.each([
      { title: "an absent definition", selection: "one, absent", code: 7, names: /shop\/absent/ },
      { title: "an invalid annotation", selection: '[{"name":"one"', code: 7, names: /annotation|JSON|k8s\.v1\.cni/ },
      { title: "the default network's interface name", selection: "one@eth0", code: 7, names: /shop\/one.*"eth0"/ },
      { title: "one interface name for two networks", selection: "one@x0,two@x0", code: 7, names: /shop\/two.*"x0"/ },
      { title: "an absent definition of another namespace", selection: "other/one", code: 7, names: /other\/one/ },
    ])("$title is refused before a plugin runs", async ({ selection, code, names }) => {
      manifests.pod("web", selection);
      const added = await stage.call("ADD", attaching("web", [{ type: "main" }]));
      expect([added.status, added.json]).toMatchObject([1, { code, msg: expect.stringMatching(names) }]);
      expect([executed(), stage.left(), manifests.statusOf("web")]).toEqual([[], nothing, undefined]);
    });

    test.each([
      { title: "an absent pod", args: "K8S_POD_NAMESPACE=shop;K8S_POD_NAME=none;K8S_POD_UID=x", names: /shop\/none/ },
      {
        title: "a pod with another uid",
        args: "K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web;K8S_POD_UID=older",
        names: /shop\/web.*older|older.*shop\/web/,
      },
    ])("$title is refused with code 11 before a plugin runs", async ({ args, names }) => {
      const added = await stage.call("ADD", { ...attaching("web", [{ type: "main" }]), args });
      expect([added.status, added.json]).toMatchObject([1, { code: 11, msg: expect.stringMatching(names) }]);
      expect([executed(), stage.left()]).toEqual([[], nothing]);
    });

    test("N1-56: a pod without the annotation, and a call without a pod, get only the default network", async () => {
      manifests.pod("plain");
      const plain = attaching("plain", [{ type: "main" }]);
      const { args: _, ...unnamed } = { ...plain, containerId: "unnamed" };
      for (const each of [plain, unnamed]) await stage.succeed("ADD", each);
      expect(executed()).toEqual(["ADD main eth0", "ADD main eth0"]);
      expect(manifests.statusOf("plain")).toMatchObject([{ name: "pods", default: true }]);
      for (const each of [plain, unnamed]) await stage.succeed("DEL", each);
      expect(stage.left()).toEqual(nothing);
    });
  });
});
