// The launcher with single controls: each holds without the others.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defaultUids } from "../../../../src/configuration/keys/sandbox-uids.ts";
import { childrenOf } from "../../../lab/sandbox-processes.ts";
import { FrameDecoder } from "../../../../host/sandbox/process/frames.ts";
import { buildLauncher } from "../../../../host/sandbox/launcher/build.ts";
import { controls } from "../../../../host/sandbox/launcher/controls.ts";
import { canBecome, launcherArguments, type Jail } from "../../../../host/sandbox/launcher/jail.ts";
import { readLaunched } from "../../../../host/sandbox/launcher/launched.ts";
import { probeCommand, type ProbeReport, runProbe, tries } from "../../../../host/sandbox/process/probe.ts";
import { findLibraries } from "../../../../host/sandbox/launcher/readable-paths.ts";

const gibibyte = 1024 ** 3;
const probe = probeCommand({ pid: process.pid, file: "/etc/passwd", bytes: 4 * gibibyte });
const programs = { command: probe, readable: import.meta.dirname, memoryBytes: 2 * gibibyte };
let outDir = "";
let launcher = "";

beforeAll(async () => {
  outDir = mkdtempSync(join(tmpdir(), "plexus-launcher-"));
  ({ path: launcher } = await buildLauncher({ outDir }));
});
afterAll(() => rmSync(outDir, { recursive: true, force: true }));

function jail(init: Partial<Jail> = {}): Jail {
  return { launcher, uids: defaultUids, required: [], ...init };
}

/** The whole jail's arguments without these options and their values. */
function argumentsWithout(...options: readonly string[]): readonly string[] {
  const args = launcherArguments(jail(), { ...programs, command: probe });
  const end = args.indexOf("--");
  return args.filter((_, at) => at >= end || !options.includes(args[at - (at % 2)] ?? ""));
}

async function report(args: readonly string[]): Promise<ProbeReport> {
  const found = await runProbe(launcher, args);
  if (typeof found === "string") throw new Error(found);
  return found;
}

const succeeded = ({ errors }: ProbeReport): readonly string[] =>
  [...errors].filter(([, error]) => error === 0).map(([name]) => name);

describe("the launcher", () => {
  test("refuses every try of the probe with the whole jail", async () => {
    expect(succeeded(await report(argumentsWithout()))).toEqual([]);
  });

  test("without any control lets the probe's tries succeed, so that each refusal is a control's", async () => {
    const all = ["--namespaces", "--uids", "--read", "--execute", "--limit", "--filter"];
    const found = await report(argumentsWithout(...all));
    const always = [
      "socket-inet",
      "socket-unix",
      "fork",
      "kill-other",
      "read-outside",
      "read-proc",
      "write-tmp",
      "memory",
      "keyring",
    ];
    expect(succeeded(found)).toEqual(expect.arrayContaining(always));
    rmSync("/tmp/plexus-probe", { force: true });
  });

  test("without the filter of system calls keeps processes, files and rights apart by its namespaces", async () => {
    const found = await report(argumentsWithout("--filter"));
    const byOthers = [
      "kill-other",
      "ptrace-other",
      "read-memory",
      "pidfd",
      "read-outside",
      "read-proc",
      "write-root",
      "write-tmp",
      "memory",
      "mount",
      "uid-0",
    ];
    expect(succeeded(found).filter((name) => byOthers.includes(name))).toEqual([]);
    expect(found.launched.controls.has("system-calls")).toBe(false);
  });

  test("without namespaces refuses by the filter, by landlock and by the limits", async () => {
    const found = await report(argumentsWithout("--namespaces"));
    const files = found.launched.controls.has("landlock") ? [] : ["read-outside", "read-proc"];
    expect(succeeded(found).filter((name) => !files.includes(name))).toEqual([]);
    for (const control of controls.filter((name) => name.endsWith("-namespace")))
      expect(found.launched.controls.has(control)).toBe(false);
  });

  test("tells which controls hold, and gives every process a uid of its own where it may", async () => {
    const [one, other] = await Promise.all([report(argumentsWithout()), report(argumentsWithout())]);
    expect(one.launched.controls.has("own-uid")).toBe(canBecome(defaultUids));
    expect(one.launched.uid !== other.launched.uid).toBe(canBecome(defaultUids));
    expect([...one.errors.keys()].toSorted()).toEqual(Object.keys(tries).toSorted());
  });

  test.each([
    [[], "understood"],
    [["--uids", "0:5", "--", "probe"], "understood"],
    [["--filter", "abc", "--", "probe"], "understood"],
    [["--read", "relative", "--", "probe"], "understood"],
    [["--unknown", "1", "--", "probe"], "understood"],
    [["--", "/nonexistent/node"], "cannot be executed: No such file"],
  ])("reports why it can't start: %j", async (args, reason) => {
    expect(await firstReport(args)).toContain(reason);
  });

  test("ends the process, and all that it has started, when it is killed or when its stdin closes", async () => {
    for (const way of ["kill", "close"] as const) {
      // Without the filter a child may fork: `sleep` stays although its parent has ended.
      const shell = ["/bin/sh", "-c", "(setsid sleep 1000 &) ; sleep 1000"] as const;
      const base = launcherArguments(jail(), { ...programs, command: [...shell] });
      const end = base.indexOf("--");
      const kept = base.filter((_, at) => at >= end || ["--namespaces", "--uids"].includes(base[at - (at % 2)] ?? ""));
      const withoutRoot = kept.map((each, at) => (kept[at - 1] === "--namespaces" ? (0x7c00_0000).toString(16) : each));
      const child = spawn(launcher, withoutRoot, { env: {}, stdio: ["pipe", "pipe", "ignore"] });
      const descendants = (): readonly number[] => childrenOf(child.pid ?? 0).flatMap((pid) => [pid, ...childrenOf(pid)]);
      await expect.poll(() => descendants().length).toBeGreaterThanOrEqual(3);
      const pids = descendants();
      if (way === "kill") child.kill("SIGKILL");
      else child.stdin.destroy();
      await expect.poll(() => pids.filter((pid) => existsSync(`/proc/${pid}`) && !isZombie(pid))).toEqual([]);
      child.kill("SIGKILL");
    }
  });
});

// Descriptors: 3 wakes the supervisor, 4 stays open, 5 is the asker's, and 6 the pipe of a zygote that has ended.
test("tells the asker how a copy has crashed, also after its zygote has ended", async () => {
  const script = `trap "" PIPE; sh -c 'sleep 0.3; kill -SEGV $$' & exec '${launcher}' --supervise $! 3 4 5 6 6> >(exec <&-)`;
  const child = spawn("bash", ["-c", script], { stdio: ["pipe", "ignore", "ignore", "pipe", "pipe", "pipe"] });
  const [wakes, , asker] = child.stdio.slice(3) as [Duplex, Duplex, Duplex];
  const woken = setInterval(() => wakes.write(Buffer.alloc(128)), 50);
  wakes.on("error", () => undefined);
  const told = Buffer.concat(await asker.toArray());
  clearInterval(woken);
  child.kill("SIGKILL");
  expect([told.length, (told[0] ?? 0) & 0x7f]).toEqual([4, constants.signals.SIGSEGV]);
});

function isZombie(pid: number): boolean {
  return readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
}

/** The last report of a launcher that can't start its command. */
async function firstReport(args: readonly string[]): Promise<string> {
  const child = spawn(launcher, args, { env: {}, stdio: ["pipe", "pipe", "ignore"] });
  const frames: unknown[] = [];
  const decoder = new FrameDecoder(1024);
  child.stdout.on("data", (chunk: Buffer) => frames.push(...decoder.push(chunk).map(({ json }) => readLaunched(json))));
  await new Promise((resolve) => child.once("close", resolve));
  return String(frames.at(-1));
}

test("the directories of libraries are found in /proc/PID/maps, without those inside others", () => {
  const maps =
    "7f-7f r-xp 0 0:0 1 /nonexistent-a/lib/libc.so.6\n7f-7f r--p 0 0:0 2 /nonexistent-a/lib/x/libm-2.31.so\n7f rw-p 0 0 [heap]\n";
  expect(findLibraries(maps).some((path) => path.startsWith("/nonexistent"))).toBe(false);
  expect(findLibraries(readFileSync("/proc/self/maps", "utf8")).length).toBeGreaterThan(0);
});
