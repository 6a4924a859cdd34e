// The network configuration that the built daemon writes: a runtime that reads it gets Plexus, through the life of the default network's file,
// and until Plexus is removed from the node.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isJsonObject } from "../../../src/json/document.ts";
import { startDaemon, type TestDaemon } from "../../lab/daemon.ts";
import { httpRequest } from "../../lab/http-request.ts";
import { dist, type Answer } from "../../lab/plexus.ts";
import { readPrometheusText, valueOf } from "../../lab/prometheus-text.ts";
import { callsInOrder, installRecorder, type RecorderPlugin } from "../../lab/recorder.ts";
import { missingForMixed, mixedInstallation } from "../../lab/mixed-network.ts";
import { openStage, type Stage } from "../../lab/stage.ts";

const within = { interval: 50 };

describe.skipIf(missingForMixed("a daemon's network configuration"))("a daemon's network configuration", () => {
  let stage: Stage;
  let recorders: readonly RecorderPlugin[];
  let daemon: TestDaemon | undefined;
  beforeEach(() => {
    stage = openStage(mixedInstallation);
    recorders = ["flannel", "calico", "storage"].map((name) => installRecorder(stage.plexus.cniPath, name));
    for (const directory of [netD(), join(stage.plexus.directory, "template")]) mkdirSync(directory);
    template({ confDir: join(stage.plexus.directory, "further"), defaultNetworks: ["storage"] });
    mkdirSync(join(stage.plexus.directory, "further"));
    put("storage.conflist", "storage", join(stage.plexus.directory, "further"));
  });
  afterEach(async () => {
    await daemon?.stop();
    daemon = undefined;
    stage.dispose();
  });

  const netD = (): string => join(stage.plexus.directory, "net.d");
  const written = (): string => join(netD(), "00-plexus.conflist");
  const socket = (): string => join(stage.plexus.directory, "daemon", "plexus.sock");
  const statusSocket = (): string => join(stage.plexus.directory, "daemon", "status.sock");
  const templatePath = (): string => join(stage.plexus.directory, "template", "config.json");

  function put(name: string, type: string, directory = netD()): void {
    writeFileSync(join(directory, name), JSON.stringify({ cniVersion: "1.0.0", name: type, plugins: [{ type }] }));
  }

  function template(more: object): void {
    const { name: _name, cniVersion: _version, ...plugin } = { name: "", cniVersion: "", ...stage.host(more) };
    writeFileSync(templatePath(), JSON.stringify(plugin));
  }

  async function start(...args: readonly string[]): Promise<void> {
    daemon = await startDaemon({
      socket: socket(),
      args: ["--state-dir", stage.plexus.state("cni"), "--cni-config-dir", netD(), "--cni-config", templatePath(), ...args],
    });
  }

  const readyz = async (): Promise<{ readonly status: number; readonly body: string }> =>
    httpRequest(statusSocket(), "/readyz").catch(() => ({ status: 0, body: "" }));
  const untilReady = (): Promise<void> => expect.poll(async () => (await readyz()).status, within).toBe(200);

  /** The configuration that a runtime would pass: the written list's plugin with the list's name and the newest of its versions. */
  function passed(): object {
    const list: unknown = JSON.parse(readFileSync(written(), "utf8"));
    if (!isJsonObject(list) || !Array.isArray(list["plugins"])) throw new Error("the written file is no list");
    const [plugin] = list["plugins"];
    const versions: readonly unknown[] = Array.isArray(list["cniVersions"]) ? list["cniVersions"] : [];
    return { ...plugin, name: list["name"], cniVersion: versions.at(-1) ?? list["cniVersion"] };
  }

  /** A runtime's call with the written configuration; no one-shot engine can answer. */
  function call(verb: string, containerId: string, netns: string): Promise<Answer> {
    const env = { PLEXUS_SOCKET: socket(), PLEXUS_HOME: "/nowhere" };
    const args = `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${containerId}`;
    return stage.request({ verb, containerId, netns, ifname: "eth0", config: passed(), args, env });
  }

  const executed = (): readonly string[] =>
    callsInOrder([...recorders]).map(({ env, plugin }) => `${env["CNI_COMMAND"]} ${plugin} ${env["CNI_CONTAINERID"]}`);
  const clear = (): void => {
    for (const recorder of recorders) recorder.clear();
  };

  test("MO-21 follows the default network: later, edited, replaced by rename, removed; a call always meets the current one", async () => {
    await start();
    await expect.poll(async () => (await readyz()).body, within).toContain("[-] configuration");
    expect((await readyz()).body).toContain("NO_DEFAULT_NETWORK");
    put("10-agent.conflist", "flannel");
    await untilReady();
    const pod = stage.pod();
    expect(await call("ADD", "a", pod.path)).toMatchObject({ status: 0 });
    expect(executed()).toEqual(["ADD flannel a", "ADD storage a"]);
    expect((await call("STATUS", "", "")).status).toBe(0);

    put("new", "calico");
    renameSync(join(netD(), "new"), join(netD(), "10-agent.conflist"));
    expect(await call("ADD", "b", stage.pod().path)).toMatchObject({ status: 0 });
    expect(await call("DEL", "a", pod.path)).toMatchObject({ status: 0 });
    expect(executed().slice(2)).toEqual(["ADD calico b", "ADD storage b", "DEL storage a", "DEL flannel a"]);

    put("05-first.conflist", "flannel");
    await expect.poll(() => readFileSync(written(), "utf8"), within).toContain("05-first.conflist");
    rmSync(join(netD(), "05-first.conflist"));
    await expect.poll(() => readFileSync(written(), "utf8"), within).toContain("10-agent.conflist");
    rmSync(join(netD(), "10-agent.conflist"));
    await expect.poll(() => existsSync(written()), within).toBe(false);
    expect((await readyz()).status).toBe(503);
    const series = readPrometheusText((await httpRequest(statusSocket(), "/metrics")).body);
    expect(valueOf(series, "plexus_cni_configuration_written")).toBe(0);
    expect(valueOf(series, "plexus_cni_configuration_problem", { fault: "NO_DEFAULT_NETWORK" })).toBe(1);
  });

  test("MO-21 an ADD waits for a default network whose file is being replaced", async () => {
    put("10-agent.conflist", "flannel");
    await start();
    await untilReady();
    renameSync(join(netD(), "10-agent.conflist"), join(netD(), "away"));
    const adding = call("ADD", "a", stage.pod().path);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    renameSync(join(netD(), "away"), join(netD(), "10-agent.conflist"));
    expect(await adding).toMatchObject({ status: 0 });
  });

  test("a wrong template keeps the daemon unready and names the key; nothing is written", async () => {
    put("10-agent.conflist", "flannel");
    template({ namespaceIsolatoin: true });
    await start();
    await expect.poll(async () => (await readyz()).body, within).toContain("namespaceIsolatoin");
    expect((await readyz()).status).toBe(503);
    expect(existsSync(written())).toBe(false);
    template({});
    await untilReady();
  });

  test("FI-19 a network plugin that renames foreign files is reported by readiness, log and metric", async () => {
    put("10-agent.conflist", "flannel");
    await start();
    await untilReady();
    const exclusive = setInterval(() => existsSync(written()) && renameSync(written(), `${written()}.cilium_bak`), 50);
    await expect.poll(async () => (await readyz()).body, within).toContain("CNI_FILE_DISPLACED");
    clearInterval(exclusive);
    await expect.poll(() => daemon?.stderr(), within).toContain("cni.exclusive=false");
  });

  test.each([
    ["a full disk", "size=64k", "ENOSPC"],
    ["a read-only directory", "ro", "EROFS"],
  ])("%s is reported once, and the daemon writes when it can", async (_, option, errno) => {
    const filled = netD();
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", filled]);
    try {
      put("10-agent.conflist", "flannel");
      if (option === "ro") execFileSync("mount", ["-o", "remount,bind,ro", filled]);
      else execFileSync("dd", ["if=/dev/zero", `of=${join(filled, "fill")}`, "bs=4k", "count=15"], { stdio: "ignore" });
      await start();
      await expect.poll(async () => (await readyz()).body, within).toMatch(new RegExp(`\\[-\\] configuration: .*${errno}`));
      // Two more looks: the same problem is no new line.
      await new Promise((resolve) => setTimeout(resolve, 11_000));
      const lines = daemon?.stderr().split("\n") ?? [];
      expect(lines.filter((line) => line.includes(errno))).toHaveLength(1);
      if (option === "ro") execFileSync("mount", ["-o", "remount,bind,rw", filled]);
      else rmSync(join(filled, "fill"));
      await untilReady();
      expect(readdirSync(filled).toSorted()).toEqual(["00-plexus.conflist", "10-agent.conflist"]);
    } finally {
      await daemon?.stop();
      daemon = undefined;
      execFileSync("umount", [filled]);
    }
  });

  test("a directory that is a file is reported, and the daemon writes once it can", async () => {
    put("10-agent.conflist", "flannel");
    // A directory that is no directory refuses every user, root included.
    renameSync(netD(), `${netD()}.away`);
    writeFileSync(netD(), "");
    await start();
    await expect.poll(async () => (await readyz()).body, within).toMatch(/\[-\] configuration: .*ENOTDIR/);
    rmSync(netD());
    renameSync(`${netD()}.away`, netD());
    await untilReady();
  });

  test("MO-26 stays when the daemon is stopped outside of a DaemonSet, and the next daemon takes it over", async () => {
    put("10-agent.conflist", "flannel");
    await start();
    await untilReady();
    const before = readFileSync(written(), "utf8");
    expect(await daemon?.stop()).toBe(0);
    expect(readFileSync(written(), "utf8")).toBe(before);
    await start();
    await untilReady();
  });

  /** Starts plexusctl uninstall. */
  function uninstall(...args: readonly string[]) {
    const program = join(dist, "plexusctl.cjs");
    const child = spawn(process.execPath, [program, "uninstall", ...args, "--status-socket", statusSocket()]);
    const output = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk: Buffer) => (output.stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (output.stderr += chunk.toString()));
    return { output, ended: once(child, "exit").then(([status]: unknown[]) => status) };
  }

  test("MO-26 uninstall --wait gives new pods the default network only, serves DELs, and ends with the last pod", async () => {
    put("10-agent.conflist", "flannel");
    await start();
    await untilReady();
    const [old, fresh] = [stage.pod(), stage.pod()];
    expect((await call("ADD", "old", old.path)).status).toBe(0);
    clear();
    const { output, ended } = uninstall("--wait", "--timeout", "60");
    await expect.poll(() => output.stderr, within).toContain("waits for 1 pods with networks of Plexus: shop/old");
    expect((await call("ADD", "fresh", fresh.path)).status).toBe(0);
    expect(executed()).toEqual(["ADD flannel fresh"]);
    expect((await call("DEL", "old", old.path)).status).toBe(0);
    expect(executed()).toEqual(["ADD flannel fresh", "DEL storage old", "DEL flannel old"]);
    expect(await ended).toBe(0);
    expect(output.stdout).toContain(`${written()}: removed`);
    expect(existsSync(written())).toBe(false);
    expect((await readyz()).status).toBe(200);
  });

  test("MO-26 uninstall --wait waits for an ADD that was begun before, and for the pod that it attaches", async () => {
    put("10-agent.conflist", "flannel");
    await start();
    await untilReady();
    const slow = stage.pod();
    const release = recorders[0]?.hold("ADD");
    const adding = call("ADD", "slow", slow.path);
    await expect.poll(executed, within).toEqual(["ADD flannel slow"]);
    const { output, ended } = uninstall("--wait", "--timeout", "60");
    await expect.poll(() => output.stderr, within).toContain("waits for 1 calls that were begun before");
    // Longer than the time for which no pod may need Plexus.
    await new Promise((resolve) => setTimeout(resolve, 8000));
    release?.();
    expect(await adding).toMatchObject({ status: 0 });
    await expect.poll(() => output.stderr, within).toContain("waits for 1 pods with networks of Plexus: shop/slow");
    expect(existsSync(written())).toBe(true);
    expect((await call("DEL", "slow", slow.path)).status).toBe(0);
    expect(await ended).toBe(0);
    expect(existsSync(written())).toBe(false);
  });

  test("MO-26 uninstall --wait removes the configuration of a daemon that was killed, and no other file", async () => {
    put("10-agent.conflist", "flannel");
    await start();
    await untilReady();
    daemon?.signal("SIGKILL");
    await daemon?.ended;
    daemon = undefined;
    const begun = performance.now();
    const { output, ended } = uninstall("--wait", "--timeout", "5", "--cni-config-dir", netD());
    expect([await ended, output.stdout]).toEqual([0, expect.stringContaining(`${written()}: removed`)]);
    expect(output.stdout).toContain("Remains: unknown, because no daemon answers");
    expect(performance.now() - begun).toBeGreaterThan(20_000);
    expect(readdirSync(netD())).toEqual(["10-agent.conflist"]);
  });

  test("MO-26 a held removal keeps the configuration away from a daemon that starts again", async () => {
    put("10-agent.conflist", "flannel");
    await start();
    await untilReady();
    const holder = spawn(process.execPath, [
      join(dist, "plexusctl.cjs"),
      "uninstall",
      "--hold",
      "--status-socket",
      statusSocket(),
    ]);
    try {
      await expect.poll(() => existsSync(written()), within).toBe(false);
      await daemon?.stop();
      await start();
      await expect.poll(async () => (await readyz()).body, within).toContain("removed, because Plexus is being removed");
      expect(existsSync(written())).toBe(false);
      const series = readPrometheusText((await httpRequest(statusSocket(), "/metrics")).body);
      expect(valueOf(series, "plexus_cni_configuration_retired")).toBe(1);
    } finally {
      holder.kill("SIGKILL");
      await once(holder, "exit");
    }
  });

  test("MO-26 uninstall --wait ends at its timeout and names the pods that remain", async () => {
    put("10-agent.conflist", "flannel");
    await start();
    await untilReady();
    expect((await call("ADD", "old", stage.pod().path)).status).toBe(0);
    const { output, ended } = uninstall("--wait", "--timeout", "1");
    expect(await ended).toBe(1);
    expect(output.stdout).toContain("Remains: shop/old has");
    expect(existsSync(written())).toBe(false);
    // A second command has nothing left to wait for, and --cancel takes the removal back.
    expect(await uninstall("--wait", "--timeout", "60").ended).toBe(0);
    expect(await uninstall("--cancel").ended).toBe(0);
    expect(existsSync(written())).toBe(true);
  });

  test("MO-26 uninstall without --wait makes the daemon remove its file, which the daemon does not restore", async () => {
    put("10-agent.conflist", "flannel");
    await start();
    await untilReady();
    const { output, ended } = uninstall(
      "--config",
      netD(),
      "--cni-path",
      stage.plexus.cniPath,
      "--state-dir",
      stage.plexus.state("cni"),
    );
    expect(await ended).toBe(1);
    expect(output.stdout).toContain("plexusd is running");
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(readdirSync(netD()).toSorted()).toEqual(["00-plexus.conflist.uninstalled", "10-agent.conflist"]);
  });

  test("uninstall --cancel gives new pods their networks again", async () => {
    put("10-agent.conflist", "flannel");
    await start();
    await untilReady();
    expect((await call("ADD", "old", stage.pod().path)).status).toBe(0);
    expect((await httpRequest(statusSocket(), "/removal?begin", "POST")).status).toBe(200);
    // A restart of the daemon does not end a removal.
    await daemon?.stop();
    await start();
    await untilReady();
    expect(passed()).toMatchObject({ retired: true });
    const { output, ended } = uninstall("--cancel");
    expect([await ended, output.stderr]).toEqual([0, ""]);
    clear();
    expect((await call("ADD", "fresh", stage.pod().path)).status).toBe(0);
    expect(executed()).toEqual(["ADD flannel fresh", "ADD storage fresh"]);
  });

  test("uninstall --wait says that a daemon writes no configuration", async () => {
    daemon = await startDaemon({ socket: socket(), args: ["--state-dir", stage.plexus.state("cni")] });
    const { output, ended } = uninstall("--wait");
    expect(await ended).toBe(1);
    expect(output.stderr).toContain("it writes no network configuration");
  });
});
