// Suspended guests in this process: other guests that run meanwhile, and the resources of abandoned calls.

import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { plainRequests, recordingImports } from "../../test/hostile/components/requests.ts";
import { buildWat } from "../../test/hostile/components/wat.ts";
import { Admission, type AdmittedComponent } from "./admission/admit.ts";
import { InProcessRunner } from "./in-process.ts";
import { defaultLimits, type Limits } from "./limits.ts";
import type { CapabilityImports } from "./runner.ts";

const limits: Limits = { ...defaultLimits, timeMs: 60_000 };
const granted = ["log", "leases", "state", "delegation"];
const components = new Map<string, AdmittedComponent>();

beforeAll(async () => {
  for (const name of [
    "good-leases",
    "waits-good",
    "waits-echo",
    "waits-and-logs",
    "waits-often",
    "waits-then-works",
    "waits-between-spins",
    "waits-delegates",
  ]) {
    const admitted = new Admission().admit(await buildWat(name), { granted, limits });
    if (!admitted.ok) throw new Error(admitted.fault.msg);
    components.set(name, admitted.value);
  }
});

interface Bounds extends Partial<Limits> {
  readonly deadlineMs?: number;
}

async function call(
  runner: InProcessRunner,
  name: string,
  imports: CapabilityImports,
  { deadlineMs = 120_000, ...callLimits }: Bounds = {},
) {
  const component = components.get(name);
  if (component === undefined) throw new Error(`no component ${name}`);
  const bounds = { limits: { ...limits, ...callLimits }, deadlineMs };
  const result = await runner.call({ component, verb: "add", request: plainRequests.add, ...bounds }, imports);
  return result.ok ? "OK" : `${result.fault.kind}: ${result.fault.msg}`;
}

type Load = NonNullable<CapabilityImports["state"]>["load"];

function loading(load: Load): CapabilityImports {
  const { state } = recordingImports().imports;
  if (state === undefined) throw new Error("no state");
  return { state: { ...state, load } };
}

function mappings(): number {
  return readFileSync("/proc/self/maps", "latin1").split("\n").length;
}

describe("suspended guests in this process", () => {
  it("are suspended at the same time, and are answered in any order", async () => {
    const runner = new InProcessRunner();
    const waiting: (() => void)[] = [];
    const calls = Array.from({ length: 32 }, (_, number) =>
      call(
        runner,
        "waits-echo",
        loading(() => new Promise((resolve) => waiting.push(() => resolve({ ok: `answer ${number}` })))),
      ),
    );
    expect(waiting.length).toBe(32);
    for (const number of Array.from({ length: 32 }, (_, index) => (index * 13) % 32)) {
      waiting[number]?.();
      expect(await calls[number]).toBe(`DELEGATE_FAILED: answer ${number}`);
    }
  });

  it("let other guests run meanwhile, also within each other", async () => {
    const runner = new InProcessRunner();
    const { delegation } = recordingImports().imports;
    if (delegation === undefined) throw new Error("no delegation");
    const inner: string[] = [];
    const delegating = (depth: number): CapabilityImports => ({
      delegation: {
        ...delegation,
        status: async () => {
          const name = depth === 0 ? "good-leases" : "waits-delegates";
          inner.push(`${depth} ${await call(runner, name, depth === 0 ? recordingImports().imports : delegating(depth - 1))}`);
          return { ok: undefined };
        },
      },
    });
    const outer = await Promise.all([1, 2, 3].map(() => call(runner, "waits-delegates", delegating(2))));
    expect(outer).toEqual(["OK", "OK", "OK"]);
    expect(inner.toSorted()).toEqual([..."000111222"].map((depth) => `${depth} OK`));
  });

  it("log in order before and after an import", async () => {
    const { imports, calls } = recordingImports();
    expect(await call(new InProcessRunner(), "waits-and-logs", imports)).toBe("OK");
    expect(calls.map(([name, , text]) => [name, text])).toEqual([
      ["log.write", "before"],
      ["state.load", undefined],
      ["log.write", "after"],
    ]);
  });

  it("E-9: are not charged for their imports, nor for the time of other guests", async () => {
    const runner = new InProcessRunner();
    // A clock that only this test advances.
    const startedAt = performance.now();
    let clock = startedAt;
    const now = vi.spyOn(performance, "now").mockImplementation(() => clock);
    const ran = vi.spyOn(process, "threadCpuUsage").mockImplementation(() => ({ user: clock * 1000, system: 0 }));
    try {
      const go = Promise.withResolvers<{ readonly ok: string }>();
      const other = recordingImports().imports;
      const logging = { ...loading(() => go.promise), log: { write: () => void (clock += 20) } };
      const all = [
        call(runner, "waits-and-logs", { ...other, ...logging }, { timeMs: 10, deadlineMs: 1e6 }),
        call(
          runner,
          "waits-then-works",
          loading(() => go.promise),
          { timeMs: 10, deadlineMs: 1e6 },
        ),
      ];
      clock += 20;
      go.resolve({ ok: "late" });
      expect(await Promise.all(all)).toEqual(["OK", "OK"]);
      expect(Math.round(clock - startedAt)).toBe(60);
    } finally {
      now.mockRestore();
      ran.mockRestore();
    }
  });

  it("E-9: are charged for all their time between imports", async () => {
    const { imports } = recordingImports();
    expect(await call(new InProcessRunner(), "waits-between-spins", imports, { timeMs: 50 })).toContain("used up its 50 ms");
  });

  it("E-9: are ended at the deadline, and a later answer of their import is ignored", async () => {
    const runner = new InProcessRunner();
    let answer: (() => void) | undefined;
    let refuse: (() => void) | undefined;
    const answered = loading(() => new Promise((resolve) => (answer = () => resolve({ ok: "too late" }))));
    const refused = loading(() => new Promise((_, reject) => (refuse = () => reject(new Error("too late")))));
    const late = [answered, refused, loading(() => new Promise(() => undefined))].map((imports) =>
      call(runner, "waits-echo", imports, { deadlineMs: 100 }),
    );
    for (const outcome of await Promise.all(late)) expect(outcome).toMatch(/LIMIT_TIME.*did not end within the call's 100 ms/);
    answer?.();
    refuse?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await call(runner, "waits-good", recordingImports().imports)).toBe("OK");
  });

  it("end with INTERNAL if a capability throws, rejects or is missing", async () => {
    const runner = new InProcessRunner();
    const thrown = loading(() => {
      throw new Error("disk on fire");
    });
    const rejected = loading(() => Promise.reject(new Error("disk on fire")));
    for (const imports of [thrown, rejected, {}]) {
      expect(await call(runner, "waits-good", imports)).toMatch(/^INTERNAL: /);
    }
  });

  it("E-10: are limited in their imports, their input and their output", async () => {
    const runner = new InProcessRunner();
    const { imports } = recordingImports();
    expect(await call(runner, "waits-often", imports, { importCalls: 9_999 })).toContain(
      "calls its imports more than 9999 times",
    );
    expect(await call(runner, "waits-often", imports)).toBe("OK");
    const large = loading(async () => ({ ok: "x".repeat(5000) }));
    expect(await call(runner, "waits-echo", large, { inputBytes: 4000 })).toContain("LIMIT_INPUT");
    expect(await call(runner, "waits-echo", large, { outputBytes: 4000 })).toContain("LIMIT_OUTPUT");
  });

  it("E-10: leave neither memory nor mappings after a thousand abandoned calls", async () => {
    const runner = new InProcessRunner();
    const never = loading(() => new Promise(() => undefined));
    const abandoned = async (times: number) => {
      for (let round = 0; round < times; round += 1) {
        const calls = Array.from({ length: 50 }, () => call(runner, "waits-good", never, { deadlineMs: 1 }));
        for (const outcome of await Promise.all(calls)) expect(outcome).toContain("LIMIT_TIME");
      }
    };
    await abandoned(4);
    const [bytes, maps] = [process.memoryUsage.rss(), mappings()];
    await abandoned(20);
    // The stack and the memory of each call are mappings.
    expect(mappings() - maps).toBeLessThan(500);
    expect(process.memoryUsage.rss() - bytes).toBeLessThan(48 * 1024 * 1024);
  });
});
