import { beforeAll, describe, expect, it } from "vitest";
import { cpuMs } from "../../test/lab/cpu-ms.ts";
import { plainRequests, recordingImports } from "../../test/hostile/components/requests.ts";
import { buildWat } from "../../test/hostile/components/wat.ts";
import { Admission, type AdmittedComponent } from "./admission/admit.ts";
import { InProcessRunner } from "./in-process.ts";
import { defaultLimits, limitsOf } from "./limits.ts";
import type { SyncImports } from "./runner.ts";

const limits = { ...defaultLimits, timeMs: 60_000 };
const deadlineMs = 120_000;
const components = new Map<string, AdmittedComponent>();

beforeAll(async () => {
  for (const name of ["good-leases", "memory-touched", "spin"]) {
    const admitted = new Admission().admit(await buildWat(name), { granted: ["log", "leases"], limits });
    if (!admitted.ok) throw new Error(admitted.fault.msg);
    components.set(name, admitted.value);
  }
});

function call(name: string, imports: SyncImports = recordingImports().imports, callLimits: Partial<typeof limits> = {}) {
  const component = components.get(name);
  if (component === undefined) throw new Error(`no component ${name}`);
  return new InProcessRunner().callNow(
    { component, verb: "add", request: plainRequests.add, limits: { ...limits, ...callLimits }, deadlineMs },
    imports,
  );
}

describe("a guest in this process", () => {
  it("E-9: is ended at its time limit, and the process goes on", () => {
    const started = cpuMs();
    expect(call("spin", {}, { timeMs: 100 })).toMatchObject({ ok: false, fault: { kind: "LIMIT_TIME" } });
    expect(cpuMs() - started).toBeLessThan(3000);
  });

  it("E-10: frees the memory of ended calls", () => {
    const component = components.get("memory-touched");
    if (component === undefined) throw new Error("no component");
    const runner = new InProcessRunner();
    const before = process.memoryUsage.rss();
    for (let count = 0; count < 60; count += 1) {
      expect(runner.callNow({ component, verb: "add", request: plainRequests.add, limits, deadlineMs }, {}).ok).toBe(true);
    }
    expect(process.memoryUsage.rss() - before).toBeLessThan(400 * 1024 * 1024);
  });

  it("E-10: receives at most the limit of its input", () => {
    expect(call("good-leases", undefined, { inputBytes: 100 })).toMatchObject({ ok: false, fault: { kind: "LIMIT_INPUT" } });
  });

  it("ends with INTERNAL if a capability throws or answers a promise", () => {
    const { imports } = recordingImports();
    const leases = imports.leases;
    if (leases === undefined) throw new Error("no leases");
    const throwing = {
      leases: {
        ...leases,
        probe: () => {
          throw new Error("disk on fire");
        },
      },
    };
    expect(call("good-leases", throwing)).toMatchObject({
      ok: false,
      fault: { kind: "INTERNAL", msg: expect.stringContaining("disk on fire") },
    });
    const later = { leases: { ...leases, probe: () => Promise.resolve({ ok: undefined }) } };
    expect(call("good-leases", Object.assign(imports, later))).toMatchObject({ ok: false, fault: { kind: "INTERNAL" } });
  });

  it("cannot call a capability that the imports inherit from a prototype", () => {
    const inherited: SyncImports = Object.create(recordingImports().imports);
    expect(call("good-leases", inherited)).toMatchObject({ ok: false, fault: { kind: "INTERNAL" } });
  });
});

describe("limits", () => {
  it("E-9: are all on by default, and no limit can be switched off", () => {
    expect(limitsOf({})).toEqual(defaultLimits);
    for (const value of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e300]) {
      const sizes = { componentMiB: value, coreInstances: value, inputBytes: value, outputBytes: value, logBytes: value };
      const made = limitsOf({ timeMs: value, memoryMiB: value, ...sizes });
      for (const limit of Object.values(made)) expect(limit).toBeGreaterThan(0);
      expect(made.timeMs).toBeLessThanOrEqual(60_000);
      expect(made.memoryPages).toBeLessThanOrEqual(16_384);
      expect(made.componentBytes).toBeLessThanOrEqual(31 * 1024 * 1024);
      expect(made.coreInstances).toBeLessThanOrEqual(128);
      expect(made.outputBytes).toBeLessThanOrEqual(16 * 1024 * 1024);
    }
  });
});
