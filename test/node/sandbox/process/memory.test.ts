// The memory of sandbox processes in a small container: many owners cannot fill it.

import { readFileSync } from "node:fs";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { Admission, type AdmittedComponent } from "../../../../host/sandbox/admission/admit.ts";
import { defaultLimits } from "../../../../host/sandbox/limits.ts";
import { memoryBounds } from "../../../../host/sandbox/process/memory-bounds.ts";
import { ProcessPool } from "../../../../host/sandbox/process/pool.ts";
import { ProcessMemory } from "../../../../host/sandbox/process/process-memory.ts";
import { costlyComponent, costlyConstructs } from "../../../hostile/components/costly-code.ts";
import { bundleGuestProgram } from "../../../hostile/components/guest-program.ts";
import { plainRequests, recordingImports } from "../../../hostile/components/requests.ts";
import { buildWat } from "../../../hostile/components/wat.ts";
import { sandboxProcesses } from "../../../lab/sandbox-processes.ts";

const mebibyte = 1024 * 1024;
const limits = { ...defaultLimits, timeMs: 60_000 };
const terms = { granted: ["log", "leases"], limits };
let entry: string;
let pool: ProcessPool;

beforeAll(async () => {
  entry = await bundleGuestProgram();
});
afterEach(() => pool.close());

function start(containerMiB: number): void {
  const memory = new ProcessMemory(memoryBounds(containerMiB * mebibyte));
  pool = new ProcessPool({ entry, warm: 0, maxProcesses: 8, memory });
}

function admitted(bytes: Uint8Array): AdmittedComponent {
  const result = new Admission().admit(bytes, terms);
  if (!result.ok) throw new Error(result.fault.msg);
  return result.value;
}

async function call(component: AdmittedComponent, source: string): Promise<string> {
  const request = { component, verb: "add", request: plainRequests.add, limits, deadlineMs: 120_000, source } as const;
  const result = await pool.call(request, recordingImports().imports);
  return result.ok ? "OK" : `${result.fault.kind}: ${result.fault.msg}`;
}

function privateMiB(): number {
  const kib = sandboxProcesses().map((pid) => {
    try {
      return Number(/^RssAnon:\s+(\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
    } catch {
      return 0;
    }
  });
  return kib.reduce((sum, each) => sum + each, 0) / 1024;
}

describe("FI-03: sandbox processes in a container with 256 MiB", () => {
  it("of eight namespaces end until the idle ones have a quarter of the container, and the next calls succeed", async () => {
    start(256);
    const fills = costlyConstructs.find(({ about }) => about === "memory.fill");
    if (fills === undefined) throw new Error("no construct");
    const component = admitted(await costlyComponent(fills, 30_000));
    const sources = ["a", "b", "c", "d", "e", "f", "g", "h"];
    for (const source of sources) expect(await call(component, source)).toBe("OK");
    await expect.poll(privateMiB).toBeLessThan(64);
    expect(pool.counts.ended).toBeGreaterThan(0);
    for (const source of sources) expect(await call(component, source)).toBe("OK");
  });

  it("end with their calls when the busy ones have too much together: only those calls fail", async () => {
    start(256);
    const component = admitted(await buildWat("good-leases"));
    expect(await call(component, "")).toBe("OK");
    const fills = costlyConstructs.find(({ about }) => about === "memory.fill");
    if (fills === undefined) throw new Error("no construct");
    const costly = admitted(await costlyComponent(fills, 30_000));
    const sources = ["a", "b", "c", "d", "e", "f", "g", "h"];
    const answers = await Promise.all(sources.map((source) => call(costly, source)));
    for (const answer of answers)
      expect(answer).toMatch(/^OK$|^SANDBOX_UNAVAILABLE: .* was ended because all together had \d+ MiB/);
    expect(await call(component, "")).toBe("OK");
  });

  it("run an ordinary component within the bounds of a process", async () => {
    start(256);
    const component = admitted(await buildWat("memory-touched"));
    for (let index = 0; index < 20; index += 1) expect(await call(component, "")).toBe("OK");
    expect(pool.counts).toMatchObject({ started: 1, ended: 0 });
  });
});
