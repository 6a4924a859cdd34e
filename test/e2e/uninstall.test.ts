// Taking Plexus off a node as an administrator does, by the program that the installation left there.

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
import { startDaemon } from "../harness/daemon.ts";
import { dist } from "../harness/plexus.ts";
import { root } from "../harness/compiled.ts";
import { bridgeStep, missingForMixed, mixedInstallation } from "./mixed-network.ts";
import { nothing, openStage, type Stage } from "./stage.ts";

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
  const own = (): object => stage.network([bridgeStep()]);

  function configure(name: string, configuration: object): void {
    writeFileSync(join(netD(), name), JSON.stringify(configuration));
  }

  /** Plexus' file, and one of a network that needs no Plexus. */
  function configureBoth(): void {
    configure("00-plexus.conf", own());
    const ipam = { type: "host-local", subnet: "10.60.0.0/24" };
    configure("10-cluster.conflist", { cniVersion: "1.0.0", name: "cbr0", plugins: [{ type: "bridge", bridge: "cni0", ipam }] });
  }

  function uninstall(...more: readonly string[]): {
    readonly status: number | null;
    readonly stdout: string;
    readonly stderr: string;
  } {
    const places = [
      "--config",
      netD(),
      "--cni-path",
      stage.plexus.cniPath,
      "--status-socket",
      join(dirname(socket()), "status.sock"),
    ];
    const program = join(home(), "bin", "plexusctl");
    return spawnSync(program, ["uninstall", ...places, "--state-dir", "/run/nowhere", ...more], { encoding: "utf8" });
  }

  /** All that is there, with what it holds. */
  function everything(): readonly string[] {
    return [netD(), stage.plexus.cniPath, home()].flatMap((directory) =>
      readdirSync(directory, { recursive: true, encoding: "utf8" })
        // Code that V8 has compiled: each program adds its own.
        .filter((name) => !/brain(?:-\w+)?\/cache(?:\/|$)/.test(name))
        .map((name) => join(directory, name)),
    );
  }

  test("MO-26 first gives the node back its other network; the files go when nothing is attached any more", async () => {
    configureBoth();
    const attaching = { config: own(), containerId: "shop-1", pod: stage.pod() };
    await stage.succeed("ADD", attaching);
    const first = uninstall();
    expect([first.status, first.stderr]).toEqual([1, ""]);
    expect(first.stdout).toContain(`00-plexus.conf.uninstalled; the next pods get ${join(netD(), "10-cluster.conflist")}\n`);
    expect(first.stdout).toContain("Not done: 1 pod has networks of Plexus, whose DEL needs it.\n");
    expect(readdirSync(netD()).toSorted()).toEqual(["00-plexus.conf.uninstalled", "10-cluster.conflist"]);
    expect(readFileSync(join(netD(), "00-plexus.conf.uninstalled"), "utf8")).toBe(JSON.stringify(own()));
    await stage.succeed("DEL", attaching);
    expect(stage.left()).toEqual(nothing);
    const second = uninstall();
    expect([second.status, second.stderr]).toEqual([0, ""]);
    expect(second.stdout).toContain(`${join(stage.plexus.cniPath, "plexus")}: removed\n`);
    expect(readdirSync(stage.plexus.cniPath).toSorted()).toEqual([...mixedInstallation.native].toSorted());
    expect(existsSync(home())).toBe(false);
  });

  test("with --dry-run tells the same and changes nothing", () => {
    configureBoth();
    const before = everything();
    const told = uninstall("--dry-run");
    expect([told.status, told.stderr]).toEqual([0, ""]);
    expect(told.stdout).toContain("00-plexus.conf: would be put aside");
    expect(told.stdout).toContain(`${join(home(), "bin", "node")}: would be removed\n`);
    expect(everything()).toEqual(before);
  });

  test("does nothing where the node would have no network", () => {
    configure("00-plexus.conf", own());
    writeFileSync(join(netD(), "10-torn.conflist"), '{"cniVersion": "1.0.0", "na');
    const before = everything();
    const told = uninstall();
    expect([told.status, told.stderr]).toEqual([1, ""]);
    expect(told.stdout).toContain("without Plexus' the node would have no network");
    expect(everything()).toEqual(before);
  });

  test.each([
    [
      "Multus itself",
      (path: string) => writeFileSync(path, "#!/bin/sh\n", { mode: 0o755 }),
      ["00-multus.conf", "10-cluster.conflist"],
    ],
    [
      "a copy of Plexus",
      (path: string) => copyFileSync(join(dist, "plexus"), path),
      ["00-multus.conf.uninstalled", "10-cluster.conflist"],
    ],
    ["a link to Plexus", (path: string) => symlinkSync("plexus", path), ["00-multus.conf.uninstalled", "10-cluster.conflist"]],
  ] as const)("puts a configuration of type multus aside only where that is Plexus: %s", (_, make, left) => {
    configureBoth();
    rmSync(join(netD(), "00-plexus.conf"));
    configure("00-multus.conf", { ...own(), type: "multus" });
    make(join(stage.plexus.cniPath, "multus"));
    uninstall();
    expect(readdirSync(netD()).toSorted()).toEqual(left);
  });

  test("gives the network back though its configuration is wrong, and keeps its files: nobody knows where the state is", () => {
    configureBoth();
    configure("00-plexus.conf", { ...own(), stepTimeoutMs: "long" });
    for (const name of ["00-plexus.conf", "00-plexus.conf.uninstalled"]) {
      const told = uninstall();
      expect([told.status, told.stderr]).toEqual([1, ""]);
      expect(told.stdout).toMatch(new RegExp(`Not done: \\S*/${name}: .*stepTimeoutMs.*\nTo do: correct it`, "u"));
      expect(readdirSync(netD()).toSorted()).toEqual(["00-plexus.conf.uninstalled", "10-cluster.conflist"]);
    }
    expect(existsSync(join(home(), "bin", "node"))).toBe(true);
  });

  test("says in a line what can't be done, and takes no argument", () => {
    configureBoth();
    mkdirSync(join(netD(), "00-plexus.conf.uninstalled", "full"), { recursive: true });
    const told = uninstall();
    expect([told.status, told.stdout]).toEqual([1, ""]);
    expect(told.stderr).toMatch(/^plexusctl: putting aside \S*00-plexus\.conf: .*\n$/);
    const mistaken = uninstall("everything");
    expect([mistaken.status, mistaken.stdout]).toEqual([2, ""]);
    expect(existsSync(join(stage.plexus.cniPath, "plexus"))).toBe(true);
  });

  test("keeps its files while a daemon runs", async () => {
    configureBoth();
    const daemon = await startDaemon({ socket: socket() });
    try {
      const told = uninstall();
      expect(told.stdout).toContain("Not done: plexusd runs.\nTo do: systemctl disable --now plexusd plexus-hands");
      expect(existsSync(join(stage.plexus.cniPath, "plexus"))).toBe(true);
    } finally {
      await daemon.stop();
    }
  });

  test("leaves what somebody changed or made, and says so", () => {
    configureBoth();
    const changed = join(stage.plexus.cniPath, "tuning.wasm");
    appendFileSync(changed, "x");
    const link = join(stage.plexus.cniPath, "multus");
    symlinkSync("plexus", link);
    const mine = join(home(), "notes");
    writeFileSync(mine, "");
    const told = uninstall("-o", "json");
    expect(told.status).toBe(1);
    expect(JSON.parse(told.stdout)).toMatchObject({
      left: [
        { path: changed, why: "was changed since it was installed" },
        { path: link, why: "is a link to plexus that the installation didn't make" },
      ],
    });
    expect([changed, mine].map((path) => existsSync(path))).toEqual([true, true]);
    expect(existsSync(join(home(), "bin"))).toBe(false);
  });

  test.each([
    ["no list", undefined, "was not made by install-node"],
    ["a list that leads out of the home", `${"0".repeat(64)}  home/../net.d\n`, "line 1 is none of an installation's"],
  ])("removes nothing by %s", (_, text, why) => {
    configureBoth();
    const list = join(home(), "installed-files");
    if (text === undefined) spawnSync("rm", [list]);
    else writeFileSync(list, text);
    const told = uninstall();
    expect([told.status, told.stderr]).toEqual([1, ""]);
    expect(told.stdout).toContain(why);
    expect(existsSync(join(home(), "bin", "node"))).toBe(true);
  });
});
