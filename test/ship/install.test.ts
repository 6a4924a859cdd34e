// `plexusctl install` on directories that play a node's: what the rights of its user can change. scripts/second-user.sh runs this file as an ordinary user, too.

import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { callBinary, dist, missingBuild } from "../lab/plexus.ts";
import { missing } from "../lab/requires.ts";
import { reportOf, runInstall, TrialNode } from "./trial-node.ts";

describe.skipIf(missing("plexusctl install", () => missingBuild()))("plexusctl install", () => {
  let trial: TrialNode;
  beforeEach(() => {
    trial = new TrialNode();
  });
  afterEach(() => trial.dispose());

  test("an administrator's umask 077 closes no directory to the sandbox processes, which have users of their own", () => {
    const script = 'umask 077; exec "$@"';
    const command = [process.execPath, join(dist, "plexusctl.cjs"), "install", "--home", trial.home, "--cni-bin", trial.bin];
    const { status, stderr } = spawnSync("sh", ["-c", script, "sh", ...command], { encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
    const code = readlinkSync(join(trial.home, "engine"));
    const modes = [trial.bin, trial.home, join(trial.home, "bin"), join(trial.home, code)].map((path) =>
      (statSync(path).mode & 0o7777).toString(8),
    );
    expect(modes).toEqual(["755", "755", "755", "755"]);
  });

  test("installs a build, and writes nothing the second time", () => {
    const first = trial.install("-o", "json");
    expect([first.status, first.stderr]).toEqual([0, ""]);
    const written = [join(trial.home, "bin/node"), join(trial.bin, "plexus"), join(trial.bin, "tuning.wasm")];
    expect(reportOf(first)).toMatchObject({
      dryRun: false,
      kept: [],
      tried: { shim: expect.any(String), node: process.version },
    });
    expect(reportOf(first)["written"]).toEqual(expect.arrayContaining(written));
    const before = trial.snapshot();
    const second = trial.install("-o", "json");
    expect(reportOf(second)).toMatchObject({ written: [], unchanged: expect.any(Number), removed: [] });
    expect(trial.snapshot()).toEqual(before);
    expect(readdirSync(trial.bin).filter((name) => name.startsWith("."))).toEqual([".plexus", ".plexus-installed-files"]);
    for (const [path, mode] of [
      [join(trial.bin, "plexus"), 0o755],
      [join(trial.bin, "tuning.wasm"), 0o644],
      [join(trial.home, "bin/node"), 0o755],
      [join(trial.home, "plexusctl.cjs"), 0o644],
    ] as const)
      expect([path, statSync(path).mode & 0o7777]).toEqual([path, mode]);
  });

  test("a wrong mode, and a file that was removed, are put right", () => {
    expect(trial.install().status).toBe(0);
    chmodSync(join(trial.bin, "plexus"), 0o600);
    rmSync(join(trial.home, "plexusd.cjs"));
    expect(reportOf(trial.install("-o", "json"))["written"]).toEqual([
      join(trial.home, "plexusd.cjs"),
      join(trial.bin, "plexus"),
    ]);
    expect(statSync(join(trial.bin, "plexus")).mode & 0o777).toBe(0o755);
  });

  test("--one-shot off leaves an engine from which a process runs, and the next installation removes it", async () => {
    expect(trial.install().status).toBe(0);
    const running = spawn(join(trial.home, "bin/node"), ["--eval", "process.stdin.resume()"], {
      stdio: ["pipe", "ignore", "inherit"],
    });
    try {
      await new Promise((resolve) => running.once("spawn", resolve));
      const why = `process ${running.pid} runs from it; repeat the installation when the process has ended`;
      expect(reportOf(trial.install("--one-shot", "off", "-o", "json"))).toMatchObject({
        removed: [],
        kept: [{ path: trial.home, why }],
      });
      // The shim no longer finds it.
      expect(existsSync(join(trial.bin, ".plexus"))).toBe(false);
    } finally {
      running.kill("SIGKILL");
      await new Promise((resolve) => running.once("close", resolve));
    }
    expect(reportOf(trial.install("--one-shot", "off", "-o", "json"))).toMatchObject({ kept: [] });
    expect(existsSync(trial.home)).toBe(false);
  });

  test("--root: the link .plexus has the node's path, and the report, too", () => {
    const result = runInstall("--root", join(trial.directory, "node"), "-o", "json");
    expect(result.stderr).toBe("");
    expect(readlinkSync(join(trial.bin, ".plexus"))).toBe("/opt/plexus");
    expect(reportOf(result)["written"]).toEqual(expect.arrayContaining(["/opt/plexus/bin/node", "/opt/cni/bin/plexus"]));
  });

  test("--root: a directory that leads elsewhere through a link is refused", () => {
    mkdirSync(join(trial.directory, "node/opt"), { recursive: true });
    mkdirSync(join(trial.directory, "elsewhere"));
    symlinkSync(join(trial.directory, "elsewhere"), join(trial.directory, "node/opt/cni"));
    const { status, stderr } = runInstall("--root", join(trial.directory, "node"));
    expect(status).toBe(1);
    expect(stderr).toContain("leads through a symbolic link to");
    expect(readdirSync(join(trial.directory, "elsewhere/bin"))).toEqual([]);
  });

  test.each([["node"], ["off"]])("--remove takes an installation away, and leaves other files: --one-shot %s", (oneShot) => {
    const places = ["--root", join(trial.directory, "node")];
    mkdirSync(trial.bin, { recursive: true });
    writeFileSync(join(trial.bin, "bridge"), "a native plugin");
    expect(runInstall(...places, "--one-shot", oneShot).status).toBe(0);
    const dry = runInstall(...places, "--remove", "--dry-run");
    expect([dry.status, existsSync(join(trial.bin, "plexus"))]).toEqual([0, true]);
    expect(runInstall(...places, "--remove")).toMatchObject({
      status: 0,
      stderr: "",
      stdout: dry.stdout.replaceAll("would be ", ""),
    });
    expect(readdirSync(trial.bin)).toEqual(["bridge"]);
    expect(existsSync(trial.home)).toBe(false);
    expect(runInstall(...places, "--remove")).toEqual({ status: 0, stdout: "no file of Plexus was found\n", stderr: "" });
    // A changed file stays, and so does the list, for the next try.
    expect(runInstall(...places, "--one-shot", oneShot).status).toBe(0);
    writeFileSync(join(trial.bin, "tuning.wasm"), "changed");
    expect(runInstall(...places, "--remove")).toMatchObject({
      status: 1,
      stdout: expect.stringContaining("was changed since it was installed"),
    });
    rmSync(join(trial.bin, "tuning.wasm"));
    expect(runInstall(...places, "--remove").status).toBe(0);
    expect(readdirSync(trial.bin)).toEqual(["bridge"]);
  });

  test("a full disk leaves the installation as it was", (context) => {
    const mounted = spawnSync("sh", [
      "-c",
      `mkdir -p ${trial.directory}/node && mount -t tmpfs -o size=200m none ${trial.directory}/node`,
    ]);
    if (mounted.status !== 0) return context.skip("tmpfs can't be mounted here");
    try {
      expect(trial.install().status).toBe(0);
      const listOf = (): string =>
        execFileSync("find", [join(trial.directory, "node"), "-type", "f", "-printf", "%P %s %i\n"], { encoding: "utf8" });
      const before = listOf().split("\n").toSorted();
      const release = trial.otherRelease("two");
      rmSync(join(release, "bin/node"));
      // Another Node does not fit beside the first.
      cpSync(process.execPath, join(release, "bin/node"));
      appendFileSync(join(release, "bin/node"), "other");
      const { status, stderr } = trial.install("--from", release);
      expect(status).toBe(1);
      expect(stderr).toContain("ENOSPC");
      expect(listOf().split("\n").toSorted()).toEqual(before);
      expect(runInstall("--home", trial.home, "--cni-bin", trial.bin, "-o", "json").status).toBe(0);
    } finally {
      // A program of the installation may still be ending, which keeps an ordinary unmount from succeeding.
      spawnSync("umount", ["--lazy", join(trial.directory, "node")]);
    }
    return undefined;
  });

  test("MO-25 installations at the same time, with calls meanwhile: no call fails, no file is half-written", async () => {
    const releases = [dist, trial.otherRelease("two")];
    expect(trial.install().status).toBe(0);
    const failures: string[] = [];
    const loop = { goesOn: true };
    let calls = 0;
    const callLoop = async (): Promise<void> => {
      for (; loop.goesOn; calls++) {
        const env = { PLEXUS_SOCKET: "/nonexistent/plexus.sock" };
        const answer = await callBinary(join(trial.bin, "plexus"), { verb: "VERSION", env }, trial.bin);
        if (answer.status !== 0) failures.push(answer.stdout + answer.stderr);
      }
    };
    const installer = (from: string): Promise<number | null> => {
      const args = [join(dist, "plexusctl.cjs"), "install", "--home", trial.home, "--cni-bin", trial.bin, "--from", from];
      const child = spawn(process.execPath, args, { stdio: "inherit" });
      return new Promise((resolve) => child.once("close", resolve));
    };
    const calling = callLoop();
    for (let round = 0; round < 3; round++) {
      expect(await Promise.all([installer(releases[round % 2] ?? ""), installer(releases[(round + 1) % 2] ?? "")])).toEqual([
        0, 0,
      ]);
    }
    loop.goesOn = false;
    await calling;
    expect(failures).toEqual([]);
    expect(calls).toBeGreaterThan(3);
    expect(readdirSync(trial.bin).filter((name) => name.endsWith(".new"))).toEqual([]);
  });
});
