// Sandbox processes that are copies of a zygote: they have the jail and the limits of new ones, and whatever fails is noticed and replaced.

import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execPath } from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LimitProof } from "../../../host/node/prove-sandbox/prove-limits.ts";
import { ownCgroup } from "../../../host/sandbox/launcher/cgroups.ts";
import { controls } from "../../../host/sandbox/launcher/controls.ts";
import { canBecome } from "../../../host/sandbox/launcher/jail.ts";
import { serveArguments } from "../../../host/sandbox/launcher/launch-server.ts";
import { guestProgram } from "../../../host/sandbox/process/sandbox-process.ts";
import { zygoteCommand } from "../../../host/sandbox/launcher/zygote-program.ts";
import { defaultUids } from "../../../src/configuration/keys/sandbox-uids.ts";
import { startDaemon, type TestDaemon } from "../../lab/daemon.ts";
import { root } from "../../lab/compiled.ts";
import { dist } from "../../lab/plexus.ts";
import { missing, type Requirement } from "../../lab/requires.ts";
import { isCopy, sandboxProcesses, zygoteOf } from "../../lab/sandbox-processes.ts";

const cgroupOfTest = (): string => join(ownCgroup() ?? "/nonexistent", `plexus-zygote-${process.pid}`);
const makesCgroups: Requirement = () => {
  try {
    mkdirSync(cgroupOfTest());
    rmdirSync(cgroupOfTest());
    return undefined;
  } catch (error) {
    return `no cgroup can be made here: ${error instanceof Error ? error.message : String(error)}`;
  }
};

const otherUids: Requirement = () => (canBecome(defaultUids) ? undefined : "this user may not change users");

let directory = "";
const daemons: TestDaemon[] = [];
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-zygote-"));
});
afterAll(async () => {
  await Promise.all(daemons.map((each) => each.stop()));
  rmSync(directory, { recursive: true, force: true });
});

async function daemon(init: { readonly args?: readonly string[]; readonly program?: string } = {}): Promise<TestDaemon> {
  const place = join(directory, String(daemons.length));
  const args = ["--state-dir", join(place, "state"), ...(init.args ?? ["--sandbox-start", "copy"])];
  const started = await startDaemon({ ...init, socket: join(place, "plexus.sock"), args });
  daemons.push(started);
  return started;
}

const patient = { timeout: 120_000, interval: 100 };

/** Waits until the daemon has its two warm processes. */
async function warm(of: TestDaemon): Promise<readonly number[]> {
  await expect.poll(() => sandboxProcesses("guest-process.cjs", of.pid).length, patient).toBe(2);
  return sandboxProcesses("guest-process.cjs", of.pid);
}

interface Report {
  readonly names: readonly string[];
  readonly controls: readonly string[];
  readonly limits: readonly LimitProof[];
}

const entry = join(dist, "engine", "guest-process.cjs");
const program = guestProgram({ node: execPath, entry, readable: join(dist, "engine") });

function zygoteHere(): readonly string[] {
  return zygoteCommand(join(dist, "bin", "plexus-sandbox"), defaultUids, program) ?? [];
}

/** Runs the pool beside a launch server with this zygote. */
function pool(zygote: readonly string[]): Report {
  const script = [execPath, "--disable-warning=ExperimentalWarning", join(root, "test/lab/pool-beside-launch-server.ts"), dist];
  const args = serveArguments(defaultUids, program, { configuration: undefined, writable: [] }, script, zygote);
  const { stdout, stderr } = spawnSync(join(dist, "bin", "plexus-sandbox"), args, { encoding: "utf8", timeout: 240_000 });
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as Report;
}

/** The verdicts of a proof. */
function verdicts({ limits }: Report): readonly unknown[] {
  return limits.map(({ name, holds, ended }) => [name, holds, ended]);
}

describe.skipIf(missing("copies of a zygote", otherUids))("FI-43: sandbox processes as copies of a zygote", () => {
  test("a copy has the controls and the limits of a new process", () => {
    const copied = pool(zygoteHere());
    const created = pool([]);
    expect([copied.names, created.names]).toEqual([["plexus-guest"], [expect.not.stringContaining("plexus-guest")]]);
    expect(copied.controls).toEqual(created.controls);
    expect(verdicts(copied)).toEqual(verdicts(created));
    expect(copied.limits.filter(({ holds }) => !holds)).toEqual([]);
  });

  test.skipIf(missing("a cgroup for a copy", makesCgroups))(
    "a copy enters the cgroup of a daemon with a uid of its own, and none of root",
    () => {
      const uid = 1_999_999_999;
      const launcher = join(dist, "bin", "plexus-sandbox");
      const zygote = zygoteCommand(launcher, defaultUids, program, undefined, uid) ?? [];
      const bounds = {
        configuration: undefined,
        writable: [],
        user: { uid, shared: [], sharedAlone: [], connects: [], listens: [] },
      };
      const joined = 1 << controls.indexOf("cgroup");
      const found = [uid, 0].map((owner) => {
        mkdirSync(cgroupOfTest());
        const processes = join(cgroupOfTest(), "cgroup.procs");
        chownSync(processes, owner, owner);
        // As the daemon does: the launch server is in the daemon's group.
        if (owner !== 0) chmodSync(processes, 0o664);
        const ask = `exec '${launcher}' --ask warm ${2 ** 34} '${cgroupOfTest()}' 256 10000 < /dev/null`;
        const args = serveArguments(defaultUids, program, bounds, ["/bin/sh", "-c", ask], zygote);
        try {
          const { stdout } = spawnSync(launcher, args, { encoding: "latin1", timeout: 120_000 });
          return Number(/"controls":(\d+)/u.exec(stdout)?.[1]) & joined;
        } finally {
          spawnSync("sh", ["-c", `until rmdir '${cgroupOfTest()}'; do sleep 0.1; done`], { timeout: 60_000 });
        }
      });
      expect(found).toEqual([joined, 0]);
    },
  );

  test("where no zygote works, a new process is started in the same jail", () => {
    const found = pool(["/bin/false"]);
    expect(found.names).toEqual([expect.not.stringContaining("plexus-guest")]);
    expect(found.limits.filter(({ holds }) => !holds)).toEqual([]);
  });

  test("each copy has a uid, a pid namespace and memory of its own, one thread, and no descriptor but its pipes", async () => {
    const started = await daemon();
    const pids = await warm(started);
    expect(pids.filter((pid) => !isCopy(pid))).toEqual([]);
    const status = pids.map((pid) => readFileSync(`/proc/${pid}/status`, "utf8"));
    expect(new Set(status.map((text) => /^Uid:\s+(\d+)/mu.exec(text)?.[1])).size).toBe(2);
    for (const text of status)
      expect(text).toMatch(/^NSpid:\s+\d+\s+1$[^]*^Threads:\s+1$[^]*^CapEff:\s+0+$[^]*^NoNewPrivs:\s+1$[^]*^Seccomp:\s+2$/mu);
    for (const pid of pids) {
      const { stdout } = spawnSync("ls", [`/proc/${pid}/fd`], { encoding: "utf8" });
      expect(stdout.trim().split("\n")).toEqual(["0", "1", "2"]);
      // Shared memory would join the copies: libuv has some for io_uring.
      expect(readFileSync(`/proc/${pid}/maps`, "utf8")).not.toMatch(/^\S+ [r-]w.s /mu);
    }
  });

  test("a zygote that was killed is replaced for the next copies", async () => {
    const started = await daemon();
    const pids = await warm(started);
    const before = zygoteOf(started.pid);
    expect(before).toBeGreaterThan(0);
    for (const pid of [before, ...pids]) process.kill(pid, "SIGKILL");
    await expect.poll(() => [0, before].includes(zygoteOf(started.pid)), patient).toBe(false);
    const next = await warm(started);
    expect(next.filter((pid) => pids.includes(pid))).toEqual([]);
  });

  test("without a zygote there are new processes: --sandbox-start new, and a release without its addon", async () => {
    const chosen = await daemon({ args: ["--sandbox-start", "new"] });
    const home = join(directory, "home");
    mkdirSync(join(home, "bin"), { recursive: true });
    for (const name of ["plexusd.cjs", "bin/plexus-sandbox"]) cpSync(join(dist, name), join(home, name));
    symlinkSync(join(dist, "engine"), join(home, "engine"));
    const without = await daemon({ args: ["--sandbox-start", "copy"], program: join(home, "plexusd.cjs") });
    for (const each of [chosen, without]) {
      expect((await warm(each)).filter(isCopy)).toEqual([]);
      expect(zygoteOf(each.pid)).toBe(0);
    }
  });
});
