// Many calls of one component in one sandbox process, suspended during their imports.

import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { bundleGuestProgram } from "../../../hostile/components/guest-program.ts";
import { plainRequests, recordingImports } from "../../../hostile/components/requests.ts";
import { buildWat } from "../../../hostile/components/wat.ts";
import { sandboxProcesses } from "../../../lab/sandbox-processes.ts";
import { Admission, type AdmittedComponent } from "../../../../host/sandbox/admission/admit.ts";
import { defaultLimits, type Limits } from "../../../../host/sandbox/limits.ts";
import type { CapabilityImports } from "../../../../host/sandbox/runner.ts";
import type { PoolSettings } from "../../../../host/sandbox/process/pool-settings.ts";
import { ProcessPool } from "../../../../host/sandbox/process/pool.ts";

const limits: Limits = { ...defaultLimits, timeMs: 60_000 };
const granted = ["log", "leases", "state", "delegation"];
const names = ["good-leases", "waits-good", "waits-echo", "waits-and-logs", "waits-as-told"];
const components = new Map<string, AdmittedComponent>();
let entry: string;
let pool: ProcessPool;

beforeAll(async () => {
  entry = await bundleGuestProgram();
  for (const name of [...names, "waits-delegates"]) {
    const admitted = new Admission().admit(await buildWat(name), { granted, limits });
    if (!admitted.ok) throw new Error(admitted.fault.msg);
    components.set(name, admitted.value);
  }
});
afterEach(() => pool.close());

function start(init: PoolSettings = {}): void {
  pool = new ProcessPool({ entry, warm: 1, ...init });
}

interface Bounds extends Partial<Limits> {
  readonly deadlineMs?: number;
}

async function call(
  name: string,
  imports: CapabilityImports = recordingImports().imports,
  { deadlineMs = 120_000, ...callLimits }: Bounds = {},
) {
  const component = components.get(name);
  if (component === undefined) throw new Error(`no component ${name}`);
  const bounds = { limits: { ...limits, ...callLimits }, deadlineMs };
  const result = await pool.call({ component, verb: "add", request: plainRequests.add, ...bounds }, imports);
  return result.ok ? "OK" : `${result.fault.kind}: ${result.fault.msg}`;
}

type Load = NonNullable<CapabilityImports["state"]>["load"];

function loading(load: Load): CapabilityImports {
  const { imports } = recordingImports();
  if (imports.state === undefined) throw new Error("no state");
  return { ...imports, state: { ...imports.state, load } };
}

/** Capabilities whose `load` waits for `answer`; `asked` resolves when `load` is called. */
function pendingLoad() {
  const { promise, resolve: answer } = Promise.withResolvers<string>();
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const imports = loading(async () => {
    ask();
    return { ok: await promise };
  });
  return { imports, answer, asked };
}

/** Starts calls of a component, and waits until all of them are suspended. */
async function suspendedCalls(name: string, count: number) {
  const all = Array.from({ length: count }, () => pendingLoad());
  const outcomes = all.map(({ imports }) => call(name, imports));
  await Promise.all(all.map(({ asked }) => asked));
  return { outcomes, answer: (number: number, text: string) => all[number]?.answer(text) };
}

function delegating(status: () => Promise<unknown>): CapabilityImports {
  const { imports } = recordingImports();
  const { delegation } = imports;
  if (delegation === undefined) throw new Error("no delegation");
  return {
    ...imports,
    delegation: {
      ...delegation,
      status: async () => {
        await status();
        return { ok: undefined };
      },
    },
  };
}

describe("calls of one component whose imports wait", () => {
  it("share a process, and are answered in any order", async () => {
    start({ warm: 0, maxProcesses: 4 });
    const { outcomes, answer } = await suspendedCalls("waits-echo", 32);
    expect(pool.counts).toMatchObject({ busy: 1, idle: 0, waiting: 0 });
    for (const number of Array.from({ length: 32 }, (_, index) => (index * 13) % 32)) {
      answer(number, `answer ${number}`);
      expect(await outcomes[number]).toBe(`DELEGATE_FAILED: answer ${number}`);
    }
    await expect.poll(() => pool.counts).toMatchObject({ busy: 0, idle: 1, started: 1, ended: 0 });
  });

  it("do not block each other: two processes, 32 calls that each wait for a call of another component", async () => {
    start({ warm: 0, maxProcesses: 2 });
    const inner: string[] = [];
    const imports = delegating(async () => inner.push(await call("good-leases")));
    const outer = await Promise.all(Array.from({ length: 32 }, () => call("waits-delegates", imports)));
    expect(new Set([...outer, ...inner])).toEqual(new Set(["OK"]));
    expect(inner.length).toBe(32);
    expect(pool.counts.started).toBeLessThanOrEqual(2);
  });

  it("do not block each other: one process, and suspended calls within suspended calls", async () => {
    start({ maxProcesses: 1, maxKept: 0, keepMs: 1 });
    const inner: string[] = [];
    const innermost = async () => {
      inner.push(await call("waits-good"), await call("good-leases"));
    };
    const imports = delegating(async () => inner.push(await call("waits-delegates", delegating(innermost))));
    const outer = await Promise.all(Array.from({ length: 8 }, () => call("waits-delegates", imports)));
    expect(new Set([...outer, ...inner])).toEqual(new Set(["OK"]));
    expect(inner.length).toBe(24);
    // Further processes were started while suspended calls held two, and ended afterwards.
    expect(pool.counts.started).toBeGreaterThan(1);
    await expect.poll(() => pool.counts).toMatchObject({ idle: 1, busy: 0, starting: 0, waiting: 0 });
    await expect.poll(() => pool.counts.started - pool.counts.ended).toBe(1);
  });

  it("do not share a process with calls of another component or with a synchronous call", async () => {
    start({ warm: 0, maxProcesses: 4 });
    const echo = await suspendedCalls("waits-echo", 3);
    const good = await suspendedCalls("waits-good", 3);
    expect(pool.counts).toMatchObject({ busy: 2, idle: 0 });
    expect(await call("good-leases")).toBe("OK");
    expect(pool.counts).toMatchObject({ busy: 2, idle: 1 });
    for (const number of [0, 1, 2]) {
      echo.answer(number, "x");
      good.answer(number, "x");
    }
    expect(await Promise.all([...echo.outcomes, ...good.outcomes])).toContain("OK");
  });

  it("have separate processes with processPerCall", async () => {
    start({ maxProcesses: 4, processPerCall: true });
    const { outcomes, answer } = await suspendedCalls("waits-good", 3);
    expect(pool.counts.busy).toBe(3);
    for (const number of [0, 1, 2]) answer(number, "x");
    expect(await Promise.all(outcomes)).toEqual(["OK", "OK", "OK"]);
    const inner: string[] = [];
    const imports = delegating(async () => inner.push(await call("good-leases")));
    const outer = await Promise.all([1, 2, 3, 4].map(() => call("waits-delegates", imports)));
    expect([...outer, ...inner]).toEqual(Array.from({ length: 8 }, () => "OK"));
  });

  it("get a second process when there are more than 64", async () => {
    start({ maxProcesses: 2 });
    const { outcomes, answer } = await suspendedCalls("waits-good", 65);
    expect(pool.counts).toMatchObject({ busy: 2, waiting: 0 });
    for (const number of outcomes.keys()) answer(number, "x");
    expect(new Set(await Promise.all(outcomes))).toEqual(new Set(["OK"]));
  });

  it("have separate logs, in order", async () => {
    start();
    const all = Array.from({ length: 8 }, () => recordingImports());
    expect(new Set(await Promise.all(all.map(({ imports }) => call("waits-and-logs", imports))))).toEqual(new Set(["OK"]));
    for (const { calls } of all) expect(calls.map(([name]) => name)).toEqual(["log.write", "state.load", "log.write"]);
  });
});

describe("when one of the calls in a process fails", () => {
  it.each([
    ["traps", {}, /^DELEGATE_TRAPPED/],
    ["spins", { timeMs: 600 }, /^LIMIT_TIME.*used up its 600 ms/],
    ["waits again", { importCalls: 1 }, /^LIMIT_TIME.*calls its imports more than 1 times/],
  ])("because its guest %s, the others go on, and the process is replaced after them", async (word, own, fault) => {
    start({ maxProcesses: 2 });
    const bad = pendingLoad();
    const broken = call("waits-as-told", bad.imports, own);
    await bad.asked;
    const { outcomes, answer } = await suspendedCalls("waits-as-told", 3);
    const [pid] = sandboxProcesses();
    answer(0, "before");
    bad.answer(word);
    expect(await broken).toMatch(fault);
    expect(await outcomes[0]).toBe("DELEGATE_FAILED: before");
    // The process takes no new calls.
    expect(await call("waits-as-told")).toBe("DELEGATE_FAILED: kept");
    expect(sandboxProcesses()).toContain(pid);
    expect(sandboxProcesses().length).toBe(2);
    answer(1, "after");
    answer(2, "after");
    expect(await Promise.all(outcomes)).toEqual(["before", "after", "after"].map((text) => `DELEGATE_FAILED: ${text}`));
    await expect.poll(() => sandboxProcesses()).not.toContain(pid);
    expect(await call("waits-as-told")).toBe("DELEGATE_FAILED: kept");
  });

  it("E-9: because its deadline passes during its import, it ends, and the others go on", async () => {
    start({ maxProcesses: 2 });
    const { outcomes, answer } = await suspendedCalls("waits-as-told", 2);
    const late = pendingLoad();
    const ended = call("waits-as-told", late.imports, { deadlineMs: 200 });
    expect(await ended).toMatch(/LIMIT_TIME.*did not end within the call's 200 ms/);
    late.answer("too late");
    answer(0, "waits");
    answer(1, "after");
    expect(await outcomes[1]).toBe("DELEGATE_FAILED: after");
    await expect.poll(() => pool.counts).toMatchObject({ busy: 1, waiting: 0 });
  });

  it("because a capability throws or rejects, the others go on", async () => {
    start({ maxProcesses: 2 });
    const { outcomes, answer } = await suspendedCalls("waits-as-told", 2);
    const thrown = loading(() => {
      throw new Error("disk on fire");
    });
    const rejected = loading(() => Promise.reject(new Error("disk on fire")));
    for (const imports of [thrown, rejected]) expect(await call("waits-as-told", imports)).toMatch(/^INTERNAL.*disk on fire/);
    answer(0, "after");
    answer(1, "after");
    expect(new Set(await Promise.all(outcomes))).toEqual(new Set(["DELEGATE_FAILED: after"]));
  });

  it("because the process is killed from outside, all calls fail with SANDBOX_UNAVAILABLE", async () => {
    start();
    const { outcomes } = await suspendedCalls("waits-as-told", 5);
    for (const pid of sandboxProcesses()) process.kill(pid, "SIGKILL");
    for (const outcome of await Promise.all(outcomes)) {
      expect(outcome).toMatch(/^SANDBOX_UNAVAILABLE.*lost its sandbox process, which was ended by SIGKILL/);
    }
    expect(await call("waits-as-told")).toBe("DELEGATE_FAILED: kept");
    expect(pool.counts).toMatchObject({ busy: 0, waiting: 0 });
  });

  it("E-10: hundreds of abandoned calls leave no call and no process", async () => {
    start({ maxProcesses: 2 });
    const never = loading(() => new Promise(() => undefined));
    for (let round = 0; round < 5; round += 1) {
      await expect.poll(() => pool.counts.idle).toBe(1);
      const calls = Array.from({ length: 64 }, () => call("waits-as-told", never, { deadlineMs: 100 }));
      expect((await Promise.all(calls)).filter((outcome) => !outcome.startsWith("LIMIT_TIME"))).toEqual([]);
    }
    expect(await call("waits-as-told")).toBe("DELEGATE_FAILED: kept");
    await expect.poll(() => pool.counts).toMatchObject({ busy: 0, waiting: 0, starting: 0 });
    expect(sandboxProcesses().length).toBe(pool.counts.idle);
  });
});

// Frames that a guest that broke out of V8 could send for other calls of its process. The engine trusts no frame.
const prelude = `
const { readSync, writeSync } = require("node:fs");
function exactly(n) { const b = Buffer.alloc(n); for (let a = 0; a < n; ) { const c = readSync(0, b, a, n - a, null); if (c === 0) process.exit(0); a += c; } return b; }
function send(type, of, json) { const t = Buffer.from(JSON.stringify(json)); const h = Buffer.alloc(13); h.writeUInt32LE(9 + t.length); h[4] = type; h.writeUInt32LE(of, 5); h.writeUInt32LE(t.length, 9); writeSync(1, Buffer.concat([h, t])); }
function read() { for (;;) { const f = exactly(exactly(4).readUInt32LE(0)); if (f[0] !== 1) return { type: f[0], of: f.readUInt32LE(1) }; } }
const load = { capability: "state", func: "load", args: [null] };
const good = { kind: "answered", answer: { ok: { interfaces: [], ips: [], routes: [] } }, report: {} };
send(16, 0, { uid: 0, gid: 0 });
`;

/** Starts a suspended call in a process that runs `script` after the second call has arrived. */
async function suspendedBeside(about: string, script: string): Promise<() => Promise<string>> {
  const directory = resolve("dist/test/hostile-process");
  mkdirSync(directory, { recursive: true });
  const program = join(directory, `shared-${about.replaceAll(/\W/g, "-")}.cjs`);
  writeFileSync(program, `${prelude} read(); send(17, 1, load); read(); ${script} for (;;) read();`);
  start({ entry: program, warm: 0, maxProcesses: 1 });
  const first = pendingLoad();
  const outcome = call("waits-good", first.imports);
  await first.asked;
  return () => outcome;
}

describe("a process of several calls under a guest's control", () => {
  it.each([
    ["answers for a suspended call", "send(19, 1, good);"],
    ["calls an import for a suspended call", "send(17, 1, load);"],
    ["logs for a suspended call", 'send(18, 1, { level: "info", message: "x" });'],
    ["calls two imports for one call at the same time", "send(17, 2, load); send(17, 2, load);"],
    ["answers for a call that does not exist", "send(19, 77, good);"],
    ["sends no frame", "read();"],
  ])("%s: the process is killed, and its calls fail", async (about, script) => {
    const one = await suspendedBeside(about, script);
    const second = pendingLoad();
    const two = call("waits-good", second.imports, { timeMs: 200 });
    expect(await one()).toMatch(/^SANDBOX_UNAVAILABLE.*lost its sandbox process, which was ended because/);
    expect(await two).toMatch(/^(ABI_VIOLATED|LIMIT_TIME|SANDBOX_UNAVAILABLE)/);
  });

  it("calls an import for an abandoned call again: the process is killed", async () => {
    const one = await suspendedBeside("ended", "send(17, 2, load); while (read().type !== 4); send(17, 2, load);");
    const failing = loading(() => {
      throw new Error("disk on fire");
    });
    expect(await call("waits-good", failing)).toMatch(/^INTERNAL.*disk on fire/);
    expect(await one()).toMatch(/^SANDBOX_UNAVAILABLE.*which was ended because it sent an import of a call that was ended/);
  });
});
