// Kills a lease operation at each of its system calls on files (strace delivers SIGKILL on entry), and runs it on file systems that
// are full or read-only.

import { execFile, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { missing, type Requirement, strace } from "../../../lab/requires.ts";
import { shortHash } from "../../../../host/system/ids.ts";
import { lockSync } from "../../../../host/store/locks/testing/lock-sync.ts";
import { runSync } from "../../../../host/capabilities/leases/testing/run-sync.ts";
import { contentOf } from "../../../../host/capabilities/leases/lease-file.ts";
import { leasesFor } from "../../../../host/capabilities/leases/scope.ts";

const run = promisify(execFile);
const runLeases = fileURLToPath(new URL("../../../../host/capabilities/leases/fixtures/run-leases.ts", import.meta.url));
const quiet = "--disable-warning=ExperimentalWarning";
const victim = { containerId: "victim", ifname: "eth0" };
const stagedName = shortHash(contentOf(victim));

const mountNamespace: Requirement = () =>
  spawnSync("unshare", ["-m", "mount", "-t", "tmpfs", "none", "/mnt"]).status === 0
    ? undefined
    : "no tmpfs in a private mount namespace";

let dataDir: string;
beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), "plexus-crash-"));
});
afterAll(() => rmSync(dataDir, { recursive: true }));

const tracedPaths = (root: string): string[] =>
  ["net", `net/.plexus-${stagedName}`, "net/10.1.0.1", "net/last_reserved_ip.0"].map((path) => join(root, path));

function traced(root: string, verb: string, ...options: string[]): Promise<{ stdout: string; stderr: string }> {
  // strace selects a rename by its first path only, so the paths of the recycled files are needed, too.
  const home = join(root, ".plexus-recycled");
  const recycledFiles = existsSync(home) ? readdirSync(home).map((name) => join(home, name)) : [];
  const paths = [...tracedPaths(root), ...recycledFiles].flatMap((path) => ["-P", path]);
  return run("strace", ["-f", "-qq", ...paths, ...options, process.execPath, quiet, runLeases, root, verb, "victim"]);
}

/** The system calls of a complete run, in order: the name, and its number among the calls of that name, from 1. */
async function callsOf(root: string, verb: string): Promise<[string, number][]> {
  const { stderr } = await traced(root, verb);
  const seen = new Map<string, number>();
  return [...stderr.matchAll(/(?:^|\] )(mkdir|openat|write|close|renameat2|pwrite64|ftruncate|rename|unlink)\(/gm)].map(
    ([, name = ""]) => {
      const nth = (seen.get(name) ?? 0) + 1;
      seen.set(name, nth);
      return [name, nth];
    },
  );
}

function leasesIn(root: string): Record<string, string> {
  const directory = join(root, "net");
  if (!existsSync(directory)) return {};
  const names = readdirSync(directory).filter((name) => name.startsWith("10."));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(directory, name), "utf8")]));
}

async function prepared(name: string, verb: string): Promise<string> {
  const root = join(dataDir, name);
  if (verb === "del") await run(process.execPath, [quiet, runLeases, root, "add", "victim"]);
  if (verb === "pass") {
    const before = join(dataDir, "pass-before");
    if (!existsSync(before)) {
      mkdirSync(before);
      // The recycled file's content is longer than the victim's, so that it must be truncated. The victim gets the same address.
      await run(process.execPath, [quiet, runLeases, before, "pass", "one-before-the-victim"]);
      writeFileSync(join(before, "net", "last_reserved_ip.0"), "10.1.0.20");
    }
    cpSync(before, root, { recursive: true });
  }
  return root;
}

describe.skipIf(missing("killed lease operations", strace))("a lease operation that is killed at any system call", () => {
  const names = { add: "ADD", del: "DEL", pass: "ADD and DEL of an engine with a memory and a recycled file" } as const;
  const minCalls = { add: 10, del: 2, pass: 7 } as const;
  for (const verb of ["add", "del", "pass"] as const) {
    test(`${names[verb]}: every lease names its owner, and the next DEL removes all files`, async () => {
      // openat and close change no file's name or content; ADD and DEL without a memory are killed at them, too.
      const all = await callsOf(await prepared(`${verb}-whole`, verb), verb);
      const calls = verb === "pass" ? all.filter(([name]) => name !== "openat" && name !== "close") : all;
      expect(calls.length).toBeGreaterThanOrEqual(minCalls[verb]);
      let linked = 0;
      const kill = async ([name, nth]: [string, number]): Promise<void> => {
        const root = await prepared(`${verb}-${name}-${nth}`, verb);
        await expect(traced(root, verb, "-e", `inject=${name}:signal=SIGKILL:when=${nth}`)).rejects.toMatchObject({
          signal: "SIGKILL",
        });
        const left = leasesIn(root);
        linked += Object.keys(left).length;
        expect(Object.values(left).filter((content) => content !== "victim\r\neth0")).toEqual([]);
        const scope = { network: "net", verb: "del", attachment: victim, defaultDirectory: root } as const;
        expect(runSync(leasesFor(scope).release({ set: 0 }, victim), lockSync)).toHaveProperty("ok");
        expect(leasesIn(root)).toEqual({});
        const net = join(root, "net");
        expect(existsSync(net) ? readdirSync(net).filter((file) => file.startsWith(".plexus-")) : []).toEqual([]);
      };
      // Two at a time, for a machine with two cores.
      const half = Math.ceil(calls.length / 2);
      await Promise.all(
        [calls.slice(0, half), calls.slice(half)].map(async (part) => {
          for (const call of part) await kill(call);
        }),
      );
      expect(linked).toBeGreaterThan(0);
    });
  }
});

/** Runs `script` in a mount namespace of its own, with a tmpfs of these `options` at $D. */
function on(options: string, script: string): string {
  const directory = mkdtempSync(join(dataDir, "fs-"));
  const whole = `set -e; mount -t tmpfs -o ${options} none "$D"; call() { "$NODE" --disable-warning=ExperimentalWarning "$CALL" "$D" "$@"; echo; }; ${script}`;
  const done = spawnSync("unshare", ["-m", "sh", "-c", whole], {
    env: { ...process.env, D: directory, NODE: process.execPath, CALL: runLeases },
    encoding: "utf8",
  });
  expect(done.stderr).toBe("");
  return done.stdout;
}

describe.skipIf(missing("full file systems", mountNamespace))("full and read-only file systems", () => {
  test("A full disk is a fault with ENOSPC, and leaves neither a lease nor an empty file", () => {
    const out = on(
      "size=64k",
      `call add a; head -c 1M /dev/zero > "$D/fill" 2>/dev/null || true; call add b; find "$D" -path "*10.1*" -o -path "*/.plexus-*"; call del a`,
    );
    const [first, second, ...rest] = out.trim().split("\n");
    expect(first).toBe('{"ok":{"address":"10.1.0.1","heldBefore":false}}');
    expect(second).toMatch(/"code":5,.*ENOSPC/);
    expect(rest.map((line) => line.replace(/^.*\/net\//, "net/"))).toEqual(["net/10.1.0.1", '{"ok":1}']);
  });

  test("A file system without free inodes is a fault, and leaves no file except the lock", () => {
    // The inodes suffice for the root and the network's directory, then also for the lock, then also for the lease.
    for (const inodes of [2, 3, 4]) {
      const out = on(`nr_inodes=${inodes}`, `call add a; find "$D" -type f ! -name lock`);
      expect(out).toMatch(/"code":5,.*ENOSPC/);
      expect(out.trim().split("\n")).toHaveLength(1);
    }
  });

  test("On a read-only file system, ADD fails, DEL of an unknown owner succeeds, and DEL of an owner with a lease fails", () => {
    const out = on("size=1m", `call add a; mount -o remount,bind,ro "$D"; call add b; call del b; call del a`).trim().split("\n");
    expect(out[1]).toMatch(/"code":5,.*EROFS/);
    expect(out[2]).toBe('{"ok":0}');
    expect(out[3]).toMatch(/"code":5,.*unlink .*10\.1\.0\.1.*EROFS/);
  });
});
