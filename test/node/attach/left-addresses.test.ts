// Addresses that plugins leave behind a successful DEL (FI-16). The DEL itself looks for them, so neither a daemon's round nor its memory is needed.

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { lockSync } from "../../../host/store/locks/testing/lock-sync.ts";
import { filesBelow, leases } from "../../lab/namespaces.ts";
import { manifestsIn } from "../../lab/manifests.ts";
import { missingForMixed, mixedInstallation } from "../../lab/mixed-network.ts";
import { installRecorder } from "../../lab/recorder.ts";
import { missing, referencePlugin, referencePlugins } from "../../lab/requires.ts";
import { nothing, openStage, shown, type Attaching, type Stage } from "../../lab/stage.ts";

const missingDevices = missing("addresses that host-device leaves", referencePlugins("host-device"));

describe.skipIf(missingForMixed("addresses that plugins leave"))("an address that the plugins' DEL leaves", () => {
  let stage: Stage;
  beforeEach(() => {
    stage = openStage(mixedInstallation);
  });
  afterEach(() => stage.dispose());

  const attaching = (config: object): Attaching & { readonly pod: ReturnType<Stage["pod"]> } => ({
    config,
    containerId: "one",
    pod: stage.pod(),
  });
  const journal = (): readonly string[] => filesBelow(join(stage.plexus.state("cni"), "journal"));
  const hostLocal = (more: object = {}): object => ({
    type: "host-local",
    subnet: "10.10.0.0/24",
    dataDir: stage.leases,
    ...more,
  });
  /** Writes a lease as a plugin does that reserves an address in ADD and forgets it. */
  function lease(address: string, content = "one\r\neth0"): string {
    mkdirSync(join(stage.leases, "pods"), { recursive: true });
    writeFileSync(join(stage.leases, "pods", address), content);
    return join(stage.leases, "pods", address);
  }

  /** Attaches a pod with host-device. */
  async function attached(ipam: object): Promise<ReturnType<typeof attaching>> {
    symlinkSync(referencePlugin("host-device") ?? "", join(stage.plexus.cniPath, "host-device"));
    stage.node.exec(["ip", "link", "add", "dev0", "type", "veth", "peer", "name", "dev1"]);
    const each = attaching(stage.network([{ type: "host-device", device: "dev0", ipam }]));
    await stage.succeed("ADD", each);
    expect(leases(stage.leases)).toEqual(["pods/10.10.0.2"]);
    stage.steps();
    return each;
  }

  describe.skipIf(missingDevices)("of host-device", () => {
    test("FI-16: with an empty CNI_NETNS is freed by a DEL of native host-local", async () => {
      const each = await attached(hostLocal());
      each.pod.dispose();
      const deleted = await stage.call("DEL", { ...each, pod: "" });
      expect([deleted.status, shown(stage.steps())]).toEqual([0, ["DEL host-device native", "DEL host-local native"]]);
      expect(deleted.stderr).toContain(
        "DEL of plugin host-device left address 10.10.0.2 of network pods reserved for container one, eth0: host-local's DEL is called by itself",
      );
      expect(stage.files()).toEqual({ leases: [], state: [], run: [] });
      // Nothing is left to do for the next DEL.
      await stage.succeed("DEL", { ...each, pod: "" });
      expect(shown(stage.steps())).toEqual(["DEL host-device native"]);
    });

    test("FI-16: with an empty CNI_NETNS is freed by a DEL of the component", async () => {
      const each = await attached({ type: "ipam-host-local", subnet: "10.10.0.0/24" });
      each.pod.dispose();
      expect((await stage.call("DEL", { ...each, pod: "" })).status).toBe(0);
      expect(shown(stage.steps())).toEqual(["DEL host-device native", "DEL ipam-host-local wasm"]);
      expect(stage.files()).toEqual({ leases: [], state: [], run: [] });
    });

    test("FI-16: is freed when the DEL of a namespace that is gone is given up by a retry", async () => {
      const each = await attached(hostLocal());
      each.pod.dispose();
      // host-device fails with the path of a namespace that is gone. The journal keeps the attachment.
      expect((await stage.call("DEL", { ...each, pod: each.pod.path })).status).toBe(1);
      expect(journal()).toHaveLength(1);
      expect((await stage.call("DEL", { ...each, pod: "" })).status).toBe(0);
      expect(stage.files()).toEqual({ leases: [], state: [], run: [] });
    });

    test("FI-16: is freed by the plugin itself while the namespace exists", async () => {
      const each = await attached(hostLocal());
      await stage.succeed("DEL", each);
      expect(shown(stage.steps())).toEqual(["DEL host-device native"]);
      expect(leases(stage.leases)).toEqual([]);
    });
  });

  test("FI-16: of a scripted plugin is freed although the result has another address, and no other lease", async () => {
    const recorder = installRecorder(stage.plexus.cniPath, "recorder");
    const each = attaching(stage.network([{ type: "recorder", ipam: hostLocal() }]));
    await stage.succeed("ADD", each);
    lease("10.10.0.9");
    const others = [lease("10.10.0.8", "one\r\nnet1"), lease("10.10.0.7", "two\r\neth0"), lease("10.10.0.6", "")];
    expect((await stage.call("DEL", each)).status).toBe(0);
    expect(recorder.calls().map(({ env }) => env["CNI_COMMAND"])).toEqual(["ADD", "DEL"]);
    expect(leases(stage.leases)).toEqual(["pods/10.10.0.6", "pods/10.10.0.7", "pods/10.10.0.8"]);
    expect(others.map((path) => readFileSync(path, "utf8"))).toEqual(["one\r\nnet1", "two\r\neth0", ""]);
    expect(journal()).toEqual([]);
  });

  test("FI-16: is released from its file if the IPAM plugin's DEL fails or does nothing", async () => {
    installRecorder(stage.plexus.cniPath, "recorder");
    const ipam = installRecorder(stage.plexus.cniPath, "ipam-host-local");
    for (const exit of [0, 1]) {
      const each = attaching(
        stage.network([{ type: "recorder", ipam: { type: "ipam-host-local", subnet: "10.10.0.0/24" } }], {
          wasm: { prefer: [], grants: { "ipam-host-local": { leases: { directories: [stage.leases] } } } },
        }),
      );
      await stage.succeed("ADD", each);
      lease("10.10.0.9");
      ipam.script("DEL", { exit });
      expect((await stage.call("DEL", each)).status).toBe(0);
      expect([leases(stage.leases), journal()]).toEqual([[], []]);
    }
  });

  test("FI-16: whose file can't be released keeps the journal entry, and the next DEL frees it", async () => {
    installRecorder(stage.plexus.cniPath, "recorder");
    const each = attaching(
      stage.network([{ type: "recorder", ipam: { type: "host-local", dataDir: stage.leases } }], {
        stepTimeoutMs: 1000,
        callTimeoutMs: 10_000,
      }),
    );
    await stage.succeed("ADD", each);
    lease("10.10.0.9");
    const { lock } = lockSync({ path: join(stage.leases, "pods", "lock"), deadlineMs: 0, shared: false });
    const refused = await stage.call("DEL", each);
    expect(refused.json?.["msg"]).toContain("address 10.10.0.9 of network pods stays reserved for container one, eth0: ");
    expect([leases(stage.leases), journal()]).toEqual([["pods/10.10.0.9"], ["one@cluster@eth0"]]);
    lock?.release();
    expect((await stage.call("DEL", each)).status).toBe(0);
    expect(stage.left()).toEqual(nothing);
  });

  test("FI-16: in a directory that a bound definition names without a grant is removed by the IPAM plugin only", async () => {
    installRecorder(stage.plexus.cniPath, "recorder");
    const cluster = manifestsIn(join(stage.plexus.directory, "manifests"));
    const elsewhere = stage.plexus.state("elsewhere");
    // Without ranges native host-local refuses its DEL.
    const ipam = { type: "host-local", dataDir: elsewhere };
    cluster.definition("own", { config: JSON.stringify({ cniVersion: "1.0.0", name: "own", type: "recorder", ipam }) });
    cluster.pod("web", "own");
    const rule = { namespaces: ["*"], native: { recorder: "*" }, ipam: { "host-local": "*" } };
    const more = { manifests: cluster.directory, definitions: { trusted: [], rules: [rule] } };
    const each = { ...attaching(stage.network([{ type: "recorder" }], more)), args: cluster.argsOf("web") };
    await stage.succeed("ADD", each);
    const [network = ""] = filesBelow(join(stage.plexus.state("cni"), "results")).flatMap(
      (name) => /^[^-]+\.own/u.exec(name) ?? [],
    );
    mkdirSync(join(elsewhere, network), { recursive: true });
    writeFileSync(join(elsewhere, network, "10.10.0.9"), "one\r\nnet1");
    const refused = await stage.call("DEL", each);
    expect([refused.status, refused.json?.["msg"]]).toEqual([1, expect.stringContaining("is not an allowed directory")]);
    expect(leases(elsewhere)).toEqual([`${network}/10.10.0.9`]);
  });

  test("FI-16: of IPAM whose leases Plexus can't see is freed by one more DEL of it, only without a namespace", async () => {
    installRecorder(stage.plexus.cniPath, "recorder");
    const whereabouts = installRecorder(stage.plexus.cniPath, "whereabouts");
    const unknown = installRecorder(stage.plexus.cniPath, "other-ipam");
    for (const type of ["other-ipam", "whereabouts"]) {
      const each = attaching(stage.network([{ type: "recorder", ipam: { type, range: "10.9.0.0/24" } }]));
      await stage.succeed("ADD", each);
      whereabouts.clear();
      await stage.succeed("DEL", each);
      expect(whereabouts.calls()).toEqual([]);
      await stage.succeed("ADD", each);
      each.pod.dispose();
      await stage.succeed("DEL", { ...each, pod: "" });
    }
    expect(whereabouts.calls()).toMatchObject([
      { env: { CNI_COMMAND: "DEL", CNI_CONTAINERID: "one", CNI_IFNAME: "eth0", CNI_NETNS: "" } },
    ]);
    expect(JSON.parse(whereabouts.calls()[0]?.stdin ?? "")).toMatchObject({
      name: "pods",
      type: "recorder",
      ipam: { type: "whereabouts", range: "10.9.0.0/24" },
    });
    // A DEL of an IPAM plugin that Plexus does not know might release more than this attachment's address.
    expect(unknown.calls()).toEqual([]);
  });

  test("FI-22: without an owner is freed when an ADD fails because such leases fill the pool, also without a daemon", async () => {
    for (const type of ["host-local", "ipam-host-local"]) {
      const ipam = { type, subnet: "10.10.0.0/28", dataDir: stage.leases };
      const each = attaching(stage.network([{ type: "bridge", bridge: "br0", ipam }]));
      for (let host = 2; host < 14; host++) lease(`10.10.0.${host}`, host % 2 === 0 ? "" : "\0\0\0\0");
      lease("10.10.0.14", "another\r\neth0");
      const refused = await stage.call("ADD", each);
      expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining("12 leases without an owner were freed")]);
      expect(leases(stage.leases)).toEqual(["pods/10.10.0.14"]);
      await stage.succeed("ADD", each);
      await stage.succeed("DEL", each);
    }
  });
});
