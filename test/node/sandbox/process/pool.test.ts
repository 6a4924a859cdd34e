import { readFileSync } from "node:fs";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { bundleGuestProgram } from "../../../hostile/components/guest-program.ts";
import { plainRequests, recordingImports } from "../../../hostile/components/requests.ts";
import { buildWat } from "../../../hostile/components/wat.ts";
import { sandboxProcesses } from "../../../lab/sandbox-processes.ts";
import { defaultUids } from "../../../../src/configuration/keys/sandbox-uids.ts";
import { Admission, type AdmittedComponent } from "../../../../host/sandbox/admission/admit.ts";
import { leastUid } from "../../../../host/sandbox/launcher/jail.ts";
import { defaultLimits } from "../../../../host/sandbox/limits.ts";
import type { CapabilityImports } from "../../../../host/sandbox/runner.ts";
import type { PoolSettings } from "../../../../host/sandbox/process/pool-settings.ts";
import { ProcessPool } from "../../../../host/sandbox/process/pool.ts";

const limits = { ...defaultLimits, timeMs: 60_000 };
const components = new Map<string, AdmittedComponent>();
let entry: string;
let pool: ProcessPool;

beforeAll(async () => {
  entry = await bundleGuestProgram();
  for (const name of ["good-leases", "memory-touched", "spin", "trap-unreachable"]) {
    const admitted = new Admission().admit(await buildWat(name), { granted: ["log", "leases"], limits });
    if (!admitted.ok) throw new Error(admitted.fault.msg);
    components.set(name, admitted.value);
  }
});
afterEach(() => pool.close());

function start(init: PoolSettings = {}): void {
  pool = new ProcessPool({ entry, warm: 0, ...init });
}

async function call(
  name: string,
  bounds: Partial<typeof limits> & { deadlineMs?: number; source?: string } = {},
  imports?: CapabilityImports,
) {
  const component = components.get(name);
  if (component === undefined) throw new Error(`no component ${name}`);
  const { deadlineMs = 120_000, source = "", ...rest } = bounds;
  const allowed = { ...limits, ...rest };
  const result = await pool.call(
    { component, verb: "add", request: plainRequests.add, limits: allowed, deadlineMs, source },
    imports ?? recordingImports().imports,
  );
  return result.ok ? "OK" : `${result.fault.kind}: ${result.fault.msg}`;
}

const leases = (probe: () => { ok: undefined } | Promise<{ ok: undefined }>): CapabilityImports => ({
  leases: { ...recordingImports().imports.leases, probe } as NonNullable<CapabilityImports["leases"]>,
});

describe("a pool of sandbox processes", () => {
  it("waits for a capability's promise, and does not count the wait as the guest's time", async () => {
    start();
    await call("good-leases");
    const slow = leases(async () => {
      await new Promise((resolve) => setTimeout(resolve, 1200));
      return { ok: undefined };
    });
    expect(await call("good-leases", { timeMs: 1000 }, slow)).toBe("OK");
  });

  it("E-9: ends a call at its deadline, also during an import", async () => {
    start();
    await call("good-leases");
    const never = leases(() => new Promise<{ ok: undefined }>(() => undefined));
    expect(await call("good-leases", { deadlineMs: 300 }, never)).toContain("LIMIT_TIME");
    expect(await call("good-leases")).toBe("OK");
  });

  it("grants further time to a guest without a CPU, but not for ever", async () => {
    start();
    await call("good-leases");
    // NaN if there is no sandbox process: kill(0) would signal the whole process group.
    const [stopped = Number.NaN] = sandboxProcesses();
    process.kill(stopped, "SIGSTOP");
    // The guest has ten times as long on the wall clock.
    const answer = call("good-leases", { timeMs: 2000 });
    await new Promise((resolve) => setTimeout(resolve, 2300));
    process.kill(stopped, "SIGCONT");
    expect(await answer).toBe("OK");
    expect(sandboxProcesses()).toEqual([stopped]);
    process.kill(stopped, "SIGSTOP");
    expect(await call("good-leases", { timeMs: 50 })).toContain("LIMIT_TIME");
    expect(await call("good-leases")).toBe("OK");
    expect(sandboxProcesses()).not.toContain(stopped);
  });

  it("starts its processes with a fixed environment, and without root's uid and capabilities", async () => {
    start();
    await call("good-leases");
    const [pid] = sandboxProcesses();
    expect(readFileSync(`/proc/${pid}/environ`, "utf8")).toBe("MALLOC_ARENA_MAX=1\0");
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const [uid = 0] = pool.uids;
    expect(uid).toBeGreaterThanOrEqual(leastUid(defaultUids));
    const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1];
    expect(effective).toBe("0000000000000000");
  });

  it("replaces a process after a trap and keeps it after an answer", async () => {
    start();
    await call("good-leases");
    const [first] = sandboxProcesses();
    await call("good-leases");
    expect(sandboxProcesses()).toEqual([first]);
    expect(await call("trap-unreachable")).toContain("DELEGATE_TRAPPED");
    // The process of the other component is not affected.
    await expect.poll(() => sandboxProcesses()).toEqual([first]);
    expect(pool.counts).toMatchObject({ started: 2, idle: 1 });
    expect(await call("good-leases")).toBe("OK");
    expect(sandboxProcesses()).toEqual([first]);
  });

  it("starts a process for every call with processPerCall", async () => {
    start({ processPerCall: true });
    await call("good-leases");
    const before = sandboxProcesses();
    expect(await call("good-leases")).toBe("OK");
    expect(sandboxProcesses().filter((pid) => before.includes(pid))).toEqual([]);
  });

  it("queues calls beyond its maximum of processes", async () => {
    start({ warm: 0, maxProcesses: 2 });
    const answers = await Promise.all(Array.from({ length: 10 }, () => call("good-leases")));
    expect(new Set(answers)).toEqual(new Set(["OK"]));
    expect(sandboxProcesses().length).toBeLessThanOrEqual(2);
  });

  it("replaces a process that is killed from outside, idle or during a call", async () => {
    start();
    await call("good-leases");
    for (const pid of sandboxProcesses()) process.kill(pid, "SIGKILL");
    await expect.poll(() => pool.counts).toMatchObject({ idle: 0, ended: 1 });
    expect(await call("good-leases")).toBe("OK");
    const killed = call("spin");
    await expect.poll(() => pool.counts.busy).toBe(1);
    for (const pid of sandboxProcesses()) process.kill(pid, "SIGKILL");
    expect(await killed).toContain("SANDBOX_UNAVAILABLE");
    await expect.poll(() => pool.counts.idle).toBe(0);
    expect(await call("good-leases")).toBe("OK");
  });

  it("fails a call with SANDBOX_UNAVAILABLE if no process can be started", async () => {
    start({ node: "/nonexistent/node", warm: 0 });
    expect(await call("good-leases")).toContain("SANDBOX_UNAVAILABLE");
    expect(await call("good-leases", { deadlineMs: 500 })).toContain("SANDBOX_UNAVAILABLE");
  });

  it("E-10: frees the memory of ended calls", async () => {
    start();
    for (let count = 0; count < 60; count += 1) expect(await call("memory-touched")).toBe("OK");
    const peak = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${sandboxProcesses()[0]}/status`, "utf8"))?.[1];
    // Without a collection the calls would hold 60 times 12 MiB. All of them must run in one process.
    expect(sandboxProcesses().length).toBe(1);
    expect(Number(peak)).toBeLessThan(400 * 1024);
  });

  it("ends all processes when it is closed", async () => {
    start({ warm: 2 });
    await call("good-leases");
    await pool.close();
    expect(sandboxProcesses()).toEqual([]);
    expect(await call("good-leases", { deadlineMs: 500 })).toContain("SANDBOX_UNAVAILABLE");
  });

  it("survives a component that does not compile", async () => {
    start();
    const component = components.get("good-leases");
    if (component === undefined) throw new Error("no component");
    const bare = { verb: "add", request: plainRequests.add, limits, deadlineMs: 120_000 } as const;
    const broken = { ...component, key: "none", modules: [new Uint8Array([0])] };
    expect(await pool.call({ ...bare, component: broken }, recordingImports().imports)).toMatchObject({
      fault: { kind: "COMPONENT_REFUSED" },
    });
    expect(await call("good-leases")).toBe("OK");
  });
});

describe("a sandbox process belongs to one component and one source", () => {
  it("serves their calls only, also when it is idle", async () => {
    start({ warm: 0 });
    expect(await call("good-leases")).toBe("OK");
    const [first] = sandboxProcesses();
    expect(await call("memory-touched")).toBe("OK");
    const both = sandboxProcesses();
    expect(both).toHaveLength(2);
    expect(both).toContain(first);
    for (const name of ["good-leases", "memory-touched", "good-leases"]) expect(await call(name)).toBe("OK");
    expect(sandboxProcesses()).toEqual(both);
    expect(await call("good-leases", { source: "shop" })).toBe("OK");
    expect(sandboxProcesses()).toHaveLength(3);
    expect(await call("good-leases", { source: "shop" })).toBe("OK");
    expect(pool.counts).toMatchObject({ idle: 3, busy: 0, started: 3, ended: 0 });
  });

  it("is ended when more than the maximum are kept, the least recently used one first", async () => {
    start({ warm: 0, maxKept: 1 });
    expect(await call("good-leases")).toBe("OK");
    const [first] = sandboxProcesses();
    expect(await call("memory-touched")).toBe("OK");
    await expect.poll(() => sandboxProcesses().length).toBe(1);
    expect(sandboxProcesses()).not.toContain(first);
    expect(await call("good-leases")).toBe("OK");
    await expect.poll(() => pool.counts.ended).toBe(2);
  });

  it("makes way for a call of another component at the maximum, which does not starve", async () => {
    start({ warm: 0, maxProcesses: 1 });
    const many = Array.from({ length: 20 }, () => call("good-leases"));
    const other = call("memory-touched");
    expect(new Set(await Promise.all([...many, other]))).toEqual(new Set(["OK"]));
    expect(pool.counts).toMatchObject({ started: 2, waiting: 0 });
  });

  it("is not its owner's only one: the others end after a while", async () => {
    start({ warm: 0, maxProcesses: 3, keepMs: 50 });
    expect(new Set(await Promise.all([1, 2, 3].map(() => call("good-leases"))))).toEqual(new Set(["OK"]));
    await expect.poll(() => pool.counts).toMatchObject({ idle: 1, busy: 0 });
  });
});
