import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { missing, type Requirement } from "../../../lab/requires.ts";
import { isDelegated, ownCgroup, SandboxCgroups } from "../../../../host/sandbox/launcher/cgroups.ts";

describe("the own cgroup", () => {
  const mounts = "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";

  test.each([
    ["0::/system.slice/plexusd.service\n", mounts, "/sys/fs/cgroup/system.slice/plexusd.service"],
    ["4:memory:/x\n0::/\n", mounts, "/sys/fs/cgroup"],
    ["0::/kubepods/pod1\n", "30 1 0:26 /kubepods /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "/sys/fs/cgroup/pod1"],
    ["4:memory:/x\n", mounts, undefined],
    ["0::/x\n", "30 1 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n", undefined],
    ["0::/kubepods2/pod1\n", "30 1 0:26 /kubepods /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", undefined],
  ])("of %j is found in the mounts", (membership, mountinfo, directory) => {
    expect(ownCgroup(membership, mountinfo)).toBe(directory);
  });
});

/** A cgroup of this test, without controllers: a machine that mounts the hierarchies of version 1, too, has none to give. */
const before = ownCgroup() ?? "/nonexistent";
const place = (): string => join(before, `plexus-test-${process.pid}`);

const writable: Requirement = () => {
  try {
    mkdirSync(place());
    rmdirSync(place());
    return undefined;
  } catch (error) {
    return `no cgroup can be made here: ${error instanceof Error ? error.message : String(error)}`;
  }
};

const memoryController: Requirement = () =>
  readFileSync(join(before, "cgroup.controllers"), "utf8").includes("memory")
    ? undefined
    : "the cgroup of version 2 has no memory controller here";

describe.skipIf(missing("cgroups of sandbox processes", writable))("the cgroups of sandbox processes", () => {
  afterEach(() => {
    // Back to where the test has come from, and the test's cgroups away.
    writeFileSync(join(before, "cgroup.procs"), String(process.pid));
    for (const name of readdirSync(place(), { withFileTypes: true })) if (name.isDirectory()) rmdirSync(join(place(), name.name));
    rmdirSync(place());
  });

  test("take the engine out of the way, get one process each, and go with it", async () => {
    mkdirSync(place());
    const cgroups = SandboxCgroups.open(place(), []);
    if (typeof cgroups === "string") throw new Error(cgroups);
    expect(readFileSync(join(place(), "engine", "cgroup.procs"), "utf8").trim()).toBe(String(process.pid));
    expect([isDelegated(join(place(), "engine")), isDelegated(place()), isDelegated(before)]).toEqual([true, false, false]);
    const cgroup = cgroups.add({ memoryBytes: 1 << 20, maxTasks: 8 });
    if (cgroup === undefined) throw new Error("no cgroup");
    const child = spawn("sleep", ["1000"]);
    writeFileSync(join(cgroup.directory, "cgroup.procs"), String(child.pid));
    cgroup.remove();
    expect(existsSync(cgroup.directory)).toBe(true);
    child.kill("SIGKILL");
    await once(child, "close");
    await expect.poll(() => (cgroup.remove(), existsSync(cgroup.directory))).toBe(false);
  });

  test.skipIf(missing("bounds of cgroups", memoryController))("have the bounds of their process", () => {
    mkdirSync(place());
    const cgroups = SandboxCgroups.open(place());
    if (typeof cgroups === "string") throw new Error(cgroups);
    const cgroup = cgroups.add({ memoryBytes: 1 << 20, maxTasks: 8 });
    expect(readFileSync(join(cgroup?.directory ?? "", "memory.max"), "utf8").trim()).toBe(String(1 << 20));
    expect(readFileSync(join(cgroup?.directory ?? "", "pids.max"), "utf8").trim()).toBe("8");
  });

  test("are not there if the cgroup lacks a controller", () => {
    mkdirSync(place());
    expect(SandboxCgroups.open(place(), ["no-such-controller"])).toContain("has no controller no-such-controller");
  });
});

test("a directory that is no cgroup is not delegated", () => {
  expect(SandboxCgroups.open("/nonexistent/cgroup")).toContain("/nonexistent/cgroup is not delegated");
});
