// Removal of Plexus from a node by the installed plexusctl, as an administrator does it.

import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startDaemon } from "../lab/daemon.ts";
import { dist } from "../lab/plexus.ts";
import { root } from "../lab/compiled.ts";
import { bridgeStep, missingForMixed, mixedInstallation } from "../lab/mixed-network.ts";
import { nothing, openStage, type Stage } from "../lab/stage.ts";

describe.skipIf(missingForMixed("uninstalling"))("plexusctl uninstall", () => {
  let stage: Stage;
  beforeEach(() => {
    stage = openStage({ native: mixedInstallation.native });
    mkdirSync(netD());
    const args = ["scripts/install.ts", "--home", home(), "--cni-bin", stage.plexus.cniPath];
    const installed = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
    if (installed.status !== 0) throw new Error(installed.stderr);
  });
  afterEach(() => stage.dispose());

  const home = (): string => join(stage.plexus.directory, "opt");
  const netD = (): string => join(stage.plexus.directory, "net.d");
  const socket = (): string => join(stage.plexus.directory, "daemon", "plexus.sock");
  const plexusConfiguration = (): object => stage.network([bridgeStep()]);

  function configure(name: string, configuration: object): void {
    writeFileSync(join(netD(), name), JSON.stringify(configuration));
  }

  /** Writes Plexus' configuration file and that of another network without Plexus. */
  function configureBoth(): void {
    configure("00-plexus.conf", plexusConfiguration());
    const ipam = { type: "host-local", subnet: "10.60.0.0/24" };
    configure("10-cluster.conflist", { cniVersion: "1.0.0", name: "cbr0", plugins: [{ type: "bridge", bridge: "cni0", ipam }] });
  }

  function uninstall(...more: readonly string[]): {
    readonly status: number | null;
    readonly stdout: string;
    readonly stderr: string;
  } {
    const locationArgs = [
      "--config",
      netD(),
      "--cni-path",
      stage.plexus.cniPath,
      "--status-socket",
      join(dirname(socket()), "status.sock"),
    ];
    const program = join(home(), "bin", "plexusctl");
    return spawnSync(program, ["uninstall", ...locationArgs, "--state-dir", "/run/nowhere", ...more], { encoding: "utf8" });
  }

  /** Paths of all files of configuration, plugins and home. */
  function installedPaths(): readonly string[] {
    return [netD(), stage.plexus.cniPath, home()].flatMap((directory) =>
      readdirSync(directory, { recursive: true, encoding: "utf8" })
        // Every program adds files to the V8 code cache.
        .filter((name) => !/engine(?:-\w+)?\/cache(?:\/|$)/.test(name))
        .map((name) => join(directory, name)),
    );
  }

  test("a file's name brings no escape sequence and no line of its own to the terminal", () => {
    configureBoth();
    configure("00-\u001B]0;title\u0007\u001B[2J\nevil: removed\u009B31m.conf", plexusConfiguration());
    const { stdout } = uninstall("--dry-run");
    expect(stdout).toContain("00- evil: removed.conf: would be renamed to ");
    // oxlint-disable-next-line no-control-regex
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/);
    expect(stdout).not.toMatch(/^evil/m);
  });

  test("MO-26 first puts its configuration aside, and removes its files after the last attachment", async () => {
    configureBoth();
    const attaching = { config: plexusConfiguration(), containerId: "shop-1", pod: stage.pod() };
    await stage.succeed("ADD", attaching);
    const first = uninstall();
    expect([first.status, first.stderr]).toEqual([1, ""]);
    expect(first.stdout).toContain(
      `00-plexus.conf.uninstalled; new pods get the network of ${join(netD(), "10-cluster.conflist")}\n`,
    );
    expect(first.stdout).toContain("Not done: 1 pod has networks of Plexus, and their DEL needs Plexus.\n");
    expect(readdirSync(netD()).toSorted()).toEqual(["00-plexus.conf.uninstalled", "10-cluster.conflist"]);
    expect(readFileSync(join(netD(), "00-plexus.conf.uninstalled"), "utf8")).toBe(JSON.stringify(plexusConfiguration()));
    await stage.succeed("DEL", attaching);
    expect(stage.left()).toEqual(nothing);
    const second = uninstall();
    expect([second.status, second.stderr]).toEqual([0, ""]);
    expect(second.stdout).toContain(`${join(stage.plexus.cniPath, "plexus")}: removed\n`);
    expect(readdirSync(stage.plexus.cniPath).toSorted()).toEqual([...mixedInstallation.native].toSorted());
    expect(existsSync(home())).toBe(false);
  });

  test("does not take another directory for that of its plugins, and removes nothing then", () => {
    const other = join(stage.plexus.directory, "other-bin");
    mkdirSync(other);
    const before = installedPaths();
    const args = ["uninstall", "--config", netD(), "--cni-path", other, "--status-socket", "/nonexistent/status.sock"];
    const program = join(home(), "bin", "plexusctl");
    const { status, stdout } = spawnSync(program, [...args, "--state-dir", "/run/nowhere"], { encoding: "utf8" });
    expect(stdout).toContain(`Not done: ${other} has no file of this installation`);
    expect([status, installedPaths()]).toEqual([1, before]);
  });

  test("counts existing pods only, not records of pods whose namespace ended", async () => {
    configureBoth();
    const gone = { config: plexusConfiguration(), containerId: "gone", pod: stage.pod() };
    await stage.succeed("ADD", gone);
    gone.pod.dispose();
    const result = uninstall();
    expect([result.status, result.stderr]).toEqual([0, ""]);
    expect(result.stdout).toMatch(/^Remains: \S+: records of deleted pods: 1; their addresses and host links may stay/mu);
    expect(existsSync(home())).toBe(false);
  });

  test("with --force removes the files although pods are attached, and reports what remains", async () => {
    configureBoth();
    await stage.succeed("ADD", { config: plexusConfiguration(), containerId: "shop-1", pod: stage.pod() });
    const result = uninstall("--force");
    expect([result.status, result.stderr]).toEqual([0, ""]);
    expect(result.stdout).toMatch(/^Remains: \S+: pods still attached: 1; no program serves their DEL$/mu);
    expect(existsSync(home())).toBe(false);
  });

  test("with --dry-run reports the same and changes nothing", () => {
    configureBoth();
    const before = installedPaths();
    const result = uninstall("--dry-run");
    expect([result.status, result.stderr]).toEqual([0, ""]);
    expect(result.stdout).toContain("00-plexus.conf: would be renamed");
    expect(result.stdout).toContain(`${join(home(), "bin", "node")}: would be removed\n`);
    expect(installedPaths()).toEqual(before);
  });

  test("does nothing if the node would have no other network", () => {
    configure("00-plexus.conf", plexusConfiguration());
    writeFileSync(join(netD(), "10-torn.conflist"), '{"cniVersion": "1.0.0", "na');
    const before = installedPaths();
    const result = uninstall();
    expect([result.status, result.stderr]).toEqual([1, ""]);
    expect(result.stdout).toContain("without Plexus the node would have no network");
    expect(installedPaths()).toEqual(before);
  });

  test.each([
    ["Multus", (path: string) => writeFileSync(path, "#!/bin/sh\n", { mode: 0o755 }), ["00-multus.conf", "10-cluster.conflist"]],
    [
      "a copy of Plexus",
      (path: string) => copyFileSync(join(dist, "plexus"), path),
      ["00-multus.conf.uninstalled", "10-cluster.conflist"],
    ],
    ["a link to Plexus", (path: string) => symlinkSync("plexus", path), ["00-multus.conf.uninstalled", "10-cluster.conflist"]],
  ] as const)("puts a configuration of type multus aside only if that plugin is Plexus: %s", (_, make, left) => {
    configureBoth();
    rmSync(join(netD(), "00-plexus.conf"));
    configure("00-multus.conf", { ...plexusConfiguration(), type: "multus" });
    make(join(stage.plexus.cniPath, "multus"));
    uninstall();
    expect(readdirSync(netD()).toSorted()).toEqual(left);
  });

  test("puts an invalid configuration aside, and keeps its files because the state directory is unknown", () => {
    configureBoth();
    configure("00-plexus.conf", { ...plexusConfiguration(), stepTimeoutMs: "long" });
    for (const name of ["00-plexus.conf", "00-plexus.conf.uninstalled"]) {
      const result = uninstall();
      expect([result.status, result.stderr]).toEqual([1, ""]);
      expect(result.stdout).toMatch(new RegExp(`Not done: \\S*/${name}: .*stepTimeoutMs.*\nTo do: correct the file`, "u"));
      expect(readdirSync(netD()).toSorted()).toEqual(["00-plexus.conf.uninstalled", "10-cluster.conflist"]);
    }
    expect(existsSync(join(home(), "bin", "node"))).toBe(true);
  });

  test("reports a failed rename in one line, and refuses arguments", () => {
    configureBoth();
    mkdirSync(join(netD(), "00-plexus.conf.uninstalled", "full"), { recursive: true });
    const result = uninstall();
    expect([result.status, result.stdout]).toEqual([1, ""]);
    expect(result.stderr).toMatch(/^plexusctl: renaming \S*00-plexus\.conf: .*\n$/);
    const mistaken = uninstall("everything");
    expect([mistaken.status, mistaken.stdout]).toEqual([2, ""]);
    expect(existsSync(join(stage.plexus.cniPath, "plexus"))).toBe(true);
  });

  test("keeps its files while a daemon runs", async () => {
    configureBoth();
    const daemon = await startDaemon({ socket: socket() });
    try {
      const result = uninstall();
      expect(result.stdout).toContain("Not done: plexusd is running.\nTo do: systemctl disable --now plexusd plexus-agent");
      expect(existsSync(join(stage.plexus.cniPath, "plexus"))).toBe(true);
    } finally {
      await daemon.stop();
    }
  });

  test("keeps and reports files that were changed or added after the installation", () => {
    configureBoth();
    const changed = join(stage.plexus.cniPath, "tuning.wasm");
    appendFileSync(changed, "x");
    const link = join(stage.plexus.cniPath, "multus");
    symlinkSync("plexus", link);
    const addedFile = join(home(), "notes");
    writeFileSync(addedFile, "");
    const result = uninstall("-o", "json");
    expect(result.status).toBe(1);
    expect(JSON.parse(result.stdout)).toMatchObject({
      left: [
        { path: changed, why: "was changed since it was installed" },
        { path: link, why: "is a link to plexus that the installation didn't make" },
      ],
    });
    expect([changed, addedFile].map((path) => existsSync(path))).toEqual([true, true]);
    expect(existsSync(join(home(), "bin"))).toBe(false);
  });

  test.each([
    ["without a list", undefined, "was not made by plexusctl install"],
    [
      "with a list that names a path outside of the home",
      `${"0".repeat(64)}  home/../net.d\n`,
      'line 1 is not "DIGEST  home/NAME"',
    ],
  ])("removes nothing %s", (_, text, why) => {
    configureBoth();
    const list = join(home(), "installed-files");
    if (text === undefined) spawnSync("rm", [list]);
    else writeFileSync(list, text);
    const result = uninstall();
    expect([result.status, result.stderr]).toEqual([1, ""]);
    expect(result.stdout).toContain(why);
    expect(existsSync(join(home(), "bin", "node"))).toBe(true);
  });
});
