// Admission in a sandbox process: the results of an intact one, and the reports of one that its component has taken over.

import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { deepDescription } from "../../../hostile/components/grown.ts";
import { bundleGuestProgram } from "../../../hostile/components/guest-program.ts";
import { plainRequests, recordingImports } from "../../../hostile/components/requests.ts";
import { buildWat } from "../../../hostile/components/wat.ts";
import type { Result } from "../../../../src/fault/result.ts";
import { Admission, type AdmittedComponent } from "../../../../host/sandbox/admission/admit.ts";
import { defaultLimits } from "../../../../host/sandbox/limits.ts";
import { AdmittedComponents } from "../../../../host/sandbox/process/admitted-components.ts";
import type { PoolSettings } from "../../../../host/sandbox/process/pool-settings.ts";
import { ProcessPool } from "../../../../host/sandbox/process/pool.ts";
import { SandboxAdmission } from "../../../../host/sandbox/process/sandbox-admission.ts";

const limits = { ...defaultLimits, timeMs: 60_000 };
const terms = { granted: ["log", "leases"], limits };
const directory = resolve("dist/test/hostile-process");
let entry: string;
let bytes: Uint8Array;
let pool: ProcessPool;
let admission: SandboxAdmission;

beforeAll(async () => {
  entry = await bundleGuestProgram();
  mkdirSync(directory, { recursive: true });
  bytes = await buildWat("good-leases");
});
afterEach(() => pool.close());

function start(init: PoolSettings = {}, admitted?: AdmittedComponents): void {
  pool = new ProcessPool({ entry, warm: 1, maxProcesses: 2, ...init });
  admission = new SandboxAdmission(() => pool, admitted);
}

/** Sorts the keys of objects, for JSON.stringify. */
function sorted(_: string, each: unknown): unknown {
  return typeof each === "object" && each !== null && !Array.isArray(each)
    ? Object.fromEntries(Object.entries(each).toSorted(([one], [other]) => (one < other ? -1 : 1)))
    : each;
}

/** A result as JSON with sorted keys, and with the modules' bytes. */
function asText(result: Result<AdmittedComponent>): string {
  const value = result.ok
    ? { ...result.value, modules: result.value.modules.map((each) => Buffer.from(each).toString("hex")) }
    : result.fault;
  return JSON.stringify(value, sorted);
}

describe("admission in a sandbox process", () => {
  it("has the same results as in the engine's process", async () => {
    start();
    const here = new Admission();
    const all = [bytes, await buildWat("capability-undeclared"), await buildWat("memory-minimum"), deepDescription(1000)];
    for (const [index, each] of all.entries())
      expect(asText(await admission.admit(each, terms, `c${index}`))).toBe(asText(here.admit(each, terms, `c${index}`)));
    const ungranted = { ...terms, granted: ["log"] };
    expect(await admission.admit(bytes, ungranted, "c0")).toMatchObject({ fault: { kind: "CAPABILITY_NOT_GRANTED" } });
  });

  it("leaves the component in its process, which then runs it", async () => {
    start({ warm: 0 });
    const admitted = await admission.admit(bytes, terms, "one");
    if (!admitted.ok) throw new Error(admitted.fault.msg);
    expect(pool.counts).toMatchObject({ idle: 1, busy: 0, started: 1 });
    const component = { ...admitted.value, modules: [] };
    const bare = { component, verb: "add", request: plainRequests.add, limits, deadlineMs: 120_000 } as const;
    expect(await pool.call(bare, recordingImports().imports)).toMatchObject({ ok: true });
    expect(pool.counts).toMatchObject({ idle: 1, started: 1, ended: 0 });
    expect(admission.recall("one", terms)).toMatchObject({ ok: true });
    expect(admission.recall("other", terms)).toBeUndefined();
  });

  it("examines a component once for calls at the same time, and replaces the process of a refused one", async () => {
    start({ warm: 0 });
    const refused = deepDescription(1000);
    const all = await Promise.all([1, 2, 3, 4].map(() => admission.admit(refused, terms, "bad")));
    expect(new Set(all.map((result) => JSON.stringify(result))).size).toBe(1);
    expect(all[0]).toMatchObject({ fault: { kind: "COMPONENT_REFUSED" } });
    expect(await admission.admit(refused, terms, "bad")).toEqual(all[0]);
    await expect.poll(() => pool.counts).toMatchObject({ started: 1, ended: 1, idle: 0, busy: 0 });
  });

  it("fails with SANDBOX_UNAVAILABLE if no process can be started, and is tried again later", async () => {
    start({ node: "/nonexistent/node", warm: 0 });
    const unavailable = { fault: { kind: "SANDBOX_UNAVAILABLE" } };
    expect(await admission.admit(bytes, terms, "one")).toMatchObject(unavailable);
    expect(admission.recall("one", terms)).toBeUndefined();
    expect(await admission.admit(bytes, terms, "one")).toMatchObject(unavailable);
    expect(pool.counts.started).toBe(2);
  });
});

// READY, then the first frame (ADMIT) is awaited.
const prelude = `
const { readSync, writeSync } = require("node:fs");
function exactly(n) { const b = Buffer.alloc(n); for (let a = 0; a < n; ) { const c = readSync(0, b, a, n - a, null); if (c === 0) process.exit(0); a += c; } return b; }
function read() { return exactly(exactly(4).readUInt32LE(0)); }
function send(type, json, raw = Buffer.alloc(0)) { const t = Buffer.from(JSON.stringify(json)); const h = Buffer.alloc(13); h.writeUInt32LE(9 + t.length + raw.length); h[4] = type; h.writeUInt32LE(t.length, 9); const b = Buffer.concat([h, t, raw]); for (let a = 0; a < b.length; ) a += writeSync(1, b, a); }
const declaration = { name: "evil", abi: "1.0.0", version: "1", about: "x", cniVersions: ["1.0.0"], capabilities: { links: "x", log: "x" } };
const plan = { abi: "1.0.0", instances: [], verbs: {}, memories: {}, capabilities: [] };
const report = { declaration, imports: [], capabilities: [], plan, sizes: [] };
send(16, { uid: 0, gid: 0 });
read();
`;

async function reported(name: string, script: string) {
  const program = join(directory, `admission-${name}.cjs`);
  writeFileSync(program, `${prelude}${script}\nfor (;;) read();`);
  start({ entry: program, warm: 0 });
  return admission.admit(bytes, terms, name);
}

describe("the process of a component that has taken it over during its admission", () => {
  it.each([
    [
      "claims a capability that was not granted",
      "ungranted",
      'send(21, { ...report, capabilities: ["links"] });',
      "CAPABILITY_NOT_GRANTED",
    ],
    [
      "claims a capability that it does not declare",
      "undeclared",
      'send(21, { ...report, capabilities: ["leases"] });',
      "SANDBOX_UNAVAILABLE",
    ],
    [
      "claims a capability that does not exist",
      "unknown",
      'send(21, { ...report, capabilities: ["constructor"] });',
      "SANDBOX_UNAVAILABLE",
    ],
    ["reports no object", "null", "send(21, null);", "SANDBOX_UNAVAILABLE"],
    [
      "reports a declaration with a terminal's escapes",
      "escapes",
      'send(21, { ...report, declaration: { ...declaration, name: "\\u001b[2J" } });',
      "SANDBOX_UNAVAILABLE",
    ],
    [
      "reports an ABI version from Object's prototype",
      "abi",
      'send(21, { ...report, declaration: { ...declaration, abi: "constructor" } });',
      "SANDBOX_UNAVAILABLE",
    ],
    [
      "reports another ABI version in its plan",
      "plan",
      'send(21, { ...report, plan: { ...plan, abi: "9.9.9" } });',
      "SANDBOX_UNAVAILABLE",
    ],
    ["reports modules beyond the frame", "sizes", "send(21, { ...report, sizes: [1e9] });", "SANDBOX_UNAVAILABLE"],
    [
      "reports a fault that only the engine has",
      "fault",
      'send(21, { refused: { fault: "STORE_FAILED", message: "x" } });',
      "SANDBOX_UNAVAILABLE",
    ],
    ["answers a call instead", "outcome", "send(19, { kind: 'answered', answer: {}, report: {} });", "SANDBOX_UNAVAILABLE"],
    ["exits", "exits", "process.exit(3);", "SANDBOX_UNAVAILABLE"],
    ["sends a frame of 4 GiB", "long", "writeSync(1, Buffer.of(255, 255, 255, 255));", "SANDBOX_UNAVAILABLE"],
  ])("%s: the component is refused", async (_, name, script, kind) => {
    expect(await reported(name, script)).toMatchObject({ ok: false, fault: { kind } });
  });

  it("sends a refusal of many lines: the fault has one short line", async () => {
    const script = 'send(21, { refused: { fault: "COMPONENT_REFUSED", message: "\\u001b[2J\\n".repeat(5000) } });';
    const result = await reported("lines", script);
    if (result.ok) throw new Error("admitted");
    expect(result.fault.msg.length).toBeLessThan(2100);
    expect(result.fault.msg).not.toMatch(/[\p{Cc}]/u);
  });

  it("claims no capabilities: every import of its guest is refused", async () => {
    const script = `send(21, report); read(); send(17, { capability: "leases", func: "probe", args: [] });`;
    const result = await reported("none", script);
    if (!result.ok) throw new Error(result.fault.msg);
    const { imports, calls } = recordingImports();
    const call = { component: result.value, verb: "add", request: plainRequests.add, limits, deadlineMs: 120_000 } as const;
    expect(await pool.call(call, imports)).toMatchObject({ fault: { kind: "ABI_VIOLATED" } });
    expect(calls).toEqual([]);
  });

  it("computes for ever: the component is refused, and the engine's event loop goes on", async () => {
    const program = join(directory, "admission-spins.cjs");
    writeFileSync(program, `${prelude}for (;;);`);
    start({ entry: program, warm: 0 });
    const began = performance.now();
    const slow = admission.admit(bytes, terms, "slow");
    let ticks = 0;
    const ticker = setInterval(() => (ticks += 1), 20);
    const result = await slow;
    clearInterval(ticker);
    const elapsedMs = performance.now() - began;
    // A busy machine may give the process less than its computing time before the deadline. Only a refusal is remembered.
    expect(result).toMatchObject({ fault: { kind: expect.stringMatching(/^(SANDBOX_UNAVAILABLE|COMPONENT_REFUSED)$/) } });
    const isRefused = !result.ok && result.fault.kind === "COMPONENT_REFUSED";
    expect(elapsedMs).toBeGreaterThan(limits.admissionMs * 0.9);
    // A blocked loop has no tick before the result.
    expect(ticks).toBeGreaterThan(0);
    expect(admission.recall("slow", terms)).toEqual(isRefused ? result : undefined);
  });
});

function verdictOf(result: Result<AdmittedComponent>): string {
  return result.ok ? "admitted" : result.fault.msg;
}

describe("FI-13: the time limit of an admission", () => {
  /** Computes for half a second before its report: more than the limit of this test. */
  const slow = `const used = () => { const { user, system } = process.cpuUsage(); return user + system; };
    const until = used() + 500e3; while (used() < until); send(21, report);`;
  const strict = { granted: terms.granted, limits: { ...limits, admissionMs: 100 } };
  const name = `sha256:${"a".repeat(64)}`;

  function slowProgram(): string {
    const program = join(directory, "admission-slow.cjs");
    writeFileSync(program, `${prelude}${slow}\nfor (;;) read();`);
    return program;
  }

  it("is a key, which the refusal names; a larger limit admits the component", async () => {
    start({ entry: slowProgram(), warm: 0 });
    const refused = await admission.admit(bytes, strict, name);
    expect(refused).toMatchObject({
      fault: {
        kind: "COMPONENT_REFUSED",
        msg: "component refused: its admission took more than 100 ms of computing time (wasm.limits.admissionMs)",
      },
    });
    expect(admission.recall(name, strict)).toEqual(refused);
    expect(verdictOf(await admission.admit(bytes, terms, name))).toBe("admitted");
  });

  it("does not hold for a component that an engine admitted before, also after a restart", async () => {
    const records = mkdtempSync(join(directory, "admitted-"));
    const first = new AdmittedComponents(records);
    start({ entry: slowProgram(), warm: 0 }, first);
    expect(verdictOf(await admission.admit(bytes, terms, name))).toBe("admitted");
    await first.keep(name, bytes, limits, 0);
    await pool.close();

    start({ entry: slowProgram(), warm: 0 }, new AdmittedComponents(records));
    expect(verdictOf(await admission.admit(bytes, strict, name))).toBe("admitted");
    // Another component has no record.
    expect(await admission.admit(bytes, strict, `sha256:${"b".repeat(64)}`)).toMatchObject({
      fault: { kind: "COMPONENT_REFUSED" },
    });
  });
});
