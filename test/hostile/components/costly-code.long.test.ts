// Components whose code makes V8 work, each as large as admission permits, in a sandbox process: its resident memory and its CPU time are
// bounded. PLEXUS_COSTS=print prints the table of host/sandbox/admission/code-costs.md.

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Admission, type AdmittedComponent } from "../../../host/sandbox/admission/admit.ts";
import { defaultLimits, type Limits } from "../../../host/sandbox/limits.ts";
import { ProcessPool } from "../../../host/sandbox/process/pool.ts";
import { cpuMsOf } from "../../lab/cpu-ms.ts";
import { sandboxProcesses } from "../../lab/sandbox-processes.ts";
import { costlyComponent, type CostlyConstruct, costlyConstructs } from "./costly-code.ts";
import { bundleGuestProgram } from "./guest-program.ts";
import { plainRequests, recordingImports } from "./requests.ts";

const limits: Limits = { ...defaultLimits, timeMs: 60_000 };
const granted = ["log", "leases"];
const mebibyte = 1024 * 1024;
/** A costly component of this size is enough to see what grows faster than the bytes. */
const maxBytes = mebibyte;
const maxCount = 2 ** 17;

interface Measured {
  readonly bytes: number;
  readonly peakMiB: number;
  readonly cpuMs: number;
}

let entry: string;
const table: string[] = [];

beforeAll(async () => {
  entry = await bundleGuestProgram();
});
afterAll(() => {
  if (process.env["PLEXUS_COSTS"] === "print") process.stderr.write(`${table.join("\n")}\n`);
});

/** Admits the construct with this count; undefined if it is refused or too large. */
async function admitted(construct: CostlyConstruct, count: number): Promise<[AdmittedComponent, number] | undefined> {
  const bytes = await costlyComponent(construct, count);
  if (bytes.length > maxBytes) return undefined;
  const result = new Admission().admit(bytes, { granted, limits });
  return result.ok ? [result.value, bytes.length] : undefined;
}

/** The largest admitted component of a construct, to within a tenth. Never makes one of more than twice that size. */
async function largestAdmitted(construct: CostlyConstruct): Promise<readonly [AdmittedComponent, number]> {
  let found = await admitted(construct, 1);
  if (found === undefined) throw new Error(`not admitted once: ${construct.about}`);
  let count = 1;
  for (;;) {
    const doubled = count * 2 > maxCount ? undefined : await admitted(construct, count * 2);
    if (doubled === undefined) break;
    found = doubled;
    count *= 2;
  }
  for (let step = count / 2; step >= 1 && step > count / 10; step = Math.floor(step / 2)) {
    const larger = await admitted(construct, count + step);
    if (larger === undefined) continue;
    found = larger;
    count += step;
  }
  return found;
}

function peakMiB(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

/** Memory and CPU time that a sandbox process needs beyond those of an empty component. */
async function measure(component: AdmittedComponent, bytes: number): Promise<Measured> {
  const pool = new ProcessPool({ entry, warm: 1, maxProcesses: 1 });
  try {
    const warmed = (): unknown => {
      // A start that a busy machine made too late is tried again.
      pool.warmUp();
      return { idle: pool.counts.idle, problem: pool.startProblem };
    };
    await expect.poll(warmed).toEqual({ idle: 1, problem: undefined });
    const [pid = Number.NaN] = sandboxProcesses();
    const before = peakMiB(pid);
    const cpuBefore = cpuMsOf(pid);
    const call = { component, verb: "add", request: plainRequests.add, limits, deadlineMs: 120_000 } as const;
    const result = await pool.call(call, recordingImports().imports);
    expect(result.ok ? "" : result.fault.msg).toBe("");
    return { bytes, peakMiB: peakMiB(pid) - before, cpuMs: cpuMsOf(pid) - cpuBefore };
  } finally {
    await pool.close();
  }
}

describe("FI-03: a component as large as admission permits", () => {
  it.each(costlyConstructs)("needs bounded memory and time: $about", { timeout: 600_000 }, async (construct) => {
    const [component, bytes] = await largestAdmitted(construct);
    const measured = await measure(component, bytes);
    table.push(
      `| ${construct.about} | ${Math.ceil(bytes / 1024)} | ${Math.round(measured.peakMiB)} | ${Math.round(measured.cpuMs)} |`,
    );
    // Without the budgets, ten kilobytes of calls with 999 values need 250 MiB and twelve seconds.
    expect(measured.peakMiB).toBeLessThan(160);
    expect(measured.cpuMs).toBeLessThan(3_000);
  });
});
