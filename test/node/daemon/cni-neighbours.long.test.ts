// The configuration that the built daemon writes, beside other programs of the node: installers of service meshes, distributions that swap
// the directory of plugins, and default networks that are away.

import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ConfigurationDaemon } from "../../lab/configuration-daemon.ts";
import { mixedInstallation, missingForMixed } from "../../lab/mixed-network.ts";
import { readPrometheusText, valueOf } from "../../lab/prometheus-text.ts";
import { callsInOrder, installRecorder, type RecorderPlugin } from "../../lab/recorder.ts";
import { openStage, type Stage } from "../../lab/stage.ts";
import { extractK3s } from "../../lab/surroundings/k3s/extract.ts";

const within = { interval: 50, timeout: 120_000 };
const installerPath = fileURLToPath(new URL("../../lab/mesh/installer.ts", import.meta.url));

describe.skipIf(missingForMixed("a daemon's network configuration beside other programs"))("beside other programs", () => {
  let stage: Stage;
  let daemon: ConfigurationDaemon;
  let recorders: readonly RecorderPlugin[];
  let installers: ChildProcess[] = [];

  beforeEach(() => {
    stage = openStage(mixedInstallation);
    daemon = new ConfigurationDaemon(stage, { readinessTimeoutMs: 500 });
    recorders = ["flannel", "calico"].map((name) => installRecorder(daemon.binDir, name));
    installers = [];
  });
  afterEach(async () => {
    for (const installer of installers) {
      installer.kill("SIGKILL");
      if (installer.exitCode === null && installer.signalCode === null) await once(installer, "exit");
    }
    await daemon.stop();
    stage.dispose();
  });

  const record = (name: string): void => void (recorders = [...recorders, installRecorder(daemon.binDir, name)]);
  const executed = (): readonly string[] =>
    callsInOrder([...recorders]).map(({ env, plugin }) => `${env["CNI_COMMAND"]} ${plugin} ${env["CNI_CONTAINERID"]}`);
  const metric = async (name: string, labels: Readonly<Record<string, string>> = {}): Promise<number | undefined> =>
    valueOf(readPrometheusText((await daemon.page("/metrics")).body), name, labels);

  const untilReadyz = (text: string, status: number): Promise<void> =>
    expect.poll(() => daemon.page("/readyz"), within).toMatchObject({ body: expect.stringContaining(text), status });

  /** Starts an installer; answers the lines of what it wrote so far. */
  function install(
    mesh: "istio" | "linkerd",
    ...args: readonly string[]
  ): { readonly child: ChildProcess; lines(): readonly string[] } {
    const child = spawn(process.execPath, [installerPath, mesh, daemon.directory, daemon.binDir, ...args]);
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    installers.push(child);
    return { child, lines: () => output.split("\n").filter((line) => line !== "") };
  }

  test("FI-17: a shim that goes is told at once, takes the file along, and brings it back", async () => {
    daemon.put("10-flannel.conflist", "flannel");
    await daemon.start();
    await untilReadyz("the default network is that of", 200);
    renameSync(join(daemon.binDir, "plexus"), join(daemon.binDir, "away"));
    await untilReadyz("SHIM_MISSING", 503);
    expect(await metric("plexus_cni_configuration_problem", { fault: "SHIM_MISSING" })).toBe(1);
    await expect.poll(() => existsSync(daemon.written), within).toBe(false);
    expect(daemon.stderr()).toContain("plexus does not exist, so each pod would fail");
    renameSync(join(daemon.binDir, "away"), join(daemon.binDir, "plexus"));
    await untilReadyz("the default network is that of", 200);
    expect(await daemon.call("ADD", "a", stage.pod().path)).toMatchObject({ status: 0 });
    expect(executed()).toEqual(["ADD flannel a"]);
  });

  test("FI-17: K3s' `current` moves at an upgrade to a directory without the shim; an installation brings Plexus' file back", async () => {
    const dataDir = join(stage.plexus.directory, "k3s");
    const bin = join(dataDir, "data", "current", "bin");
    const release = { dataDir, plugins: ["flannel", "host-local"], hasStableDirectory: false } as const;
    await extractK3s({ ...release, digest: "old" });
    const shim = join(daemon.binDir, "plexus");
    symlinkSync(shim, join(bin, "plexus"));
    daemon.put("10-flannel.conflist", "flannel");
    await daemon.start("--cni-bin-dir", bin);
    await untilReadyz("the default network is that of", 200);
    await extractK3s({ ...release, digest: "new", whileDangling: () => untilReadyz("SHIM_MISSING", 503) });
    await untilReadyz("SHIM_MISSING", 503);
    await expect.poll(() => existsSync(daemon.written), within).toBe(false);
    symlinkSync(shim, join(bin, "plexus"));
    await untilReadyz("the default network is that of", 200);
    expect(await daemon.call("ADD", "a", stage.pod().path)).toMatchObject({ status: 0 });
  });

  test("FI-17: an upgrade of K3s leaves the shim in data/cni, and Plexus' file stays", async () => {
    const dataDir = join(stage.plexus.directory, "k3s");
    const bin = join(dataDir, "data", "cni");
    await extractK3s({ dataDir, digest: "old", plugins: ["host-local"], hasStableDirectory: true });
    symlinkSync(join(daemon.binDir, "plexus"), join(bin, "plexus"));
    daemon.put("10-flannel.conflist", "flannel");
    await daemon.start("--cni-bin-dir", bin);
    await untilReadyz("the default network is that of", 200);
    const before = statSync(daemon.written).ino;
    await extractK3s({ dataDir, digest: "new", plugins: ["portmap"], hasStableDirectory: true }).catch(() => undefined);
    // Two more looks of the daemon.
    await new Promise((resolve) => setTimeout(resolve, 11_000));
    await untilReadyz("the default network is that of", 200);
    expect(statSync(daemon.written).ino).toBe(before);
    expect(await daemon.call("ADD", "a", stage.pod().path)).toMatchObject({ status: 0 });
  });

  test("FI-17: in a pod, a directory that the node removes and makes again ends the daemon, so that a new container mounts the new one", async () => {
    const source = `${daemon.directory}.node`;
    mkdirSync(source);
    execFileSync("mount", ["--bind", source, daemon.directory]);
    try {
      daemon.put("10-flannel.conflist", "flannel");
      await daemon.startInPod();
      await untilReadyz("the default network is that of", 200);
      rmSync(source, { recursive: true });
      expect(await daemon.ended()).toBe(0);
      expect(daemon.stderr()).toContain(`${daemon.directory} was removed on the node: the daemon ends`);
    } finally {
      execFileSync("umount", [daemon.directory]);
    }
  });

  test("FI-20: a pinned network that is away keeps the other one closed: calls wait, fail with its name, and go on when it is back", async () => {
    daemon.put("10-flannel.conflist", "flannel");
    daemon.put("20-calico.conflist", "calico");
    await daemon.start("--cluster-network", "20-calico.conflist");
    await untilReadyz("the default network is that of", 200);
    renameSync(join(daemon.directory, "20-calico.conflist"), join(daemon.directory, "away"));
    await untilReadyz("NO_DEFAULT_NETWORK", 503);
    // Two more intervals of looks: 5 s after the loss an unpinned daemon removes its file.
    await new Promise((resolve) => setTimeout(resolve, 12_000));
    expect(daemon.list().plugins[0]).toMatchObject({
      type: "plexus",
      clusterNetwork: join(daemon.directory, "20-calico.conflist"),
    });
    const refused = await daemon.call("ADD", "a", stage.pod().path, { readinessTimeoutMs: 500 });
    expect(refused).toMatchObject({ status: 1, json: { code: 11, msg: expect.stringContaining("20-calico.conflist") } });
    expect(await daemon.call("STATUS", "", "")).toMatchObject({ status: 1, json: { code: 50 } });
    expect(executed()).toEqual([]);
    const waiting = daemon.call("ADD", "b", stage.pod().path, { readinessTimeoutMs: 120_000 });
    renameSync(join(daemon.directory, "away"), join(daemon.directory, "20-calico.conflist"));
    expect(await waiting).toMatchObject({ status: 0 });
    expect(executed()).toEqual(["ADD calico b"]);
    await untilReadyz("the default network is that of", 200);
  });

  describe.each(["istio", "linkerd"] as const)("FI-19: the installer of %s", (mesh) => {
    const type = `${mesh}-cni`;
    beforeEach(() => {
      record(type);
      daemon.put("10-flannel.conflist", "flannel");
    });

    test("comes after Plexus: its step is kept once, both come to rest, and each pod gets it once", async () => {
      await daemon.start();
      await untilReadyz("the default network is that of", 200);
      const installer = install(mesh);
      await untilReadyz(`then another program's ${type}`, 200);
      await expect.poll(() => daemon.types(), within).toEqual(["plexus", type]);
      expect(await metric("plexus_cni_configuration_foreign_steps", { plugin: type })).toBe(1);
      await expect.poll(() => daemon.stderr(), within).toContain(`added the step \\"${type}\\"`);
      // Three more looks of the daemon. A fight has twenty rounds each second; Linkerd patches both files, and ours again after one rewrite.
      await new Promise((resolve) => setTimeout(resolve, 15_000));
      expect(installer.lines().length).toBeLessThanOrEqual(4);
      expect(await metric("plexus_cni_configuration_writes_total", { outcome: "written" })).toBeLessThanOrEqual(3);
      expect(await daemon.addList("a", stage.pod().path)).toEqual([0, 0]);
      expect(executed()).toEqual(["ADD flannel a", `ADD ${type} a`]);
      // The installer ends: pods need its plugin no longer.
      installer.child.kill("SIGTERM");
      await once(installer.child, "exit");
      await expect.poll(() => daemon.types(), within).toEqual(["plexus"]);
      expect(await daemon.addList("b", stage.pod().path)).toEqual([0]);
      expect(executed().slice(2)).toEqual(["ADD flannel b"]);
    });

    test("came before Plexus: the step in the default network's own list gives way to that in Plexus' file", async () => {
      const installer = install(mesh);
      await expect.poll(() => installer.lines().length, within).toBe(1);
      await daemon.start();
      await untilReadyz(`without ${type} of that file`, 200);
      expect(await daemon.addList("a", stage.pod().path)).toEqual([0, 0]);
      expect(executed()).toEqual(["ADD flannel a", `ADD ${type} a`]);
      installer.child.kill("SIGTERM");
      await once(installer.child, "exit");
      await expect.poll(() => daemon.types(), within).toEqual(["plexus"]);
      expect(existsSync(join(daemon.binDir, type))).toBe(false);
      expect(await daemon.addList("b", stage.pod().path)).toEqual([0]);
    });

    test("acts once: its step outlives the daemon, and a restart of the default network", async () => {
      await daemon.start();
      await untilReadyz("the default network is that of", 200);
      await once(install(mesh, "once").child, "exit");
      await untilReadyz(`then another program's ${type}`, 200);
      await daemon.stop();
      rmSync(join(daemon.directory, "10-flannel.conflist"));
      daemon.put("10-calico.conflist", "calico");
      await daemon.start();
      await expect.poll(() => readFileSync(daemon.written, "utf8"), within).toContain("10-calico.conflist");
      expect(await daemon.addList("a", stage.pod().path)).toEqual([0, 0]);
      expect(executed()).toEqual(["ADD calico a", `ADD ${type} a`]);
    });

    test("meets pauses where its step is stripped, and readiness, log and metric name the plugin", async () => {
      await daemon.start("--cni-foreign-steps", "strip");
      await untilReadyz("the default network is that of", 200);
      const installer = install(mesh);
      await untilReadyz("CNI_FILE_EDITED", 503);
      expect((await daemon.page("/readyz")).body).toContain(`"${type}"`);
      expect((await daemon.page("/readyz")).body).toContain("--cni-foreign-steps is strip");
      expect(await metric("plexus_cni_configuration_problem", { fault: "CNI_FILE_EDITED" })).toBe(1);
      const rounds = installer.lines().length;
      await new Promise((resolve) => setTimeout(resolve, 15_000));
      expect(installer.lines()).toHaveLength(rounds);
    });
  });
});
