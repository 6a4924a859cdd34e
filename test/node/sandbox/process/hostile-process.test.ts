// A guest that broke out of V8 could send any frame for its process, so the engine trusts no frame. In these tests a script in place of the
// sandbox program sends such frames.

import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { plainRequests, recordingImports } from "../../../hostile/components/requests.ts";
import { buildWat } from "../../../hostile/components/wat.ts";
import { Admission, type AdmittedComponent } from "../../../../host/sandbox/admission/admit.ts";
import { defaultLimits } from "../../../../host/sandbox/limits.ts";
import type { SyncImports } from "../../../../host/sandbox/runner.ts";
import { ProcessPool } from "../../../../host/sandbox/process/pool.ts";

const limits = { ...defaultLimits, timeMs: 60_000 };
const directory = resolve("dist/test/hostile-process");
let component: AdmittedComponent;
let pool: ProcessPool;

beforeAll(async () => {
  mkdirSync(directory, { recursive: true });
  const admitted = new Admission().admit(await buildWat("good-leases"), { granted: ["log", "leases"], limits });
  if (!admitted.ok) throw new Error(admitted.fault.msg);
  component = admitted.value;
});
afterEach(() => pool.close());

// Writes frames of the protocol; `read` waits for the engine's next frame.
const prelude = `
const { readSync, writeSync } = require("node:fs");
function exactly(n) { const b = Buffer.alloc(n); for (let a = 0; a < n; ) { const c = readSync(0, b, a, n - a, null); if (c === 0) process.exit(0); a += c; } return b; }
function read() { return exactly(exactly(4).readUInt32LE(0)); }
function raw(b) { for (let a = 0; a < b.length; ) a += writeSync(1, b, a); }
let number = 0;
function send(type, json, of = number) { const t = Buffer.from(JSON.stringify(json)); const h = Buffer.alloc(13); h.writeUInt32LE(9 + t.length); h[4] = type; h.writeUInt32LE(of, 5); h.writeUInt32LE(t.length, 9); raw(Buffer.concat([h, t])); }
function call() { for (;;) { const f = read(); if (f[0] === 2) { number = f.readUInt32LE(1); return; } } }
const answered = (answer) => send(19, { kind: "answered", answer, report: {} });
const good = { ok: { interfaces: [], ips: [], routes: [] } };
send(16, { uid: 0, gid: 0 });
for (;;) { call(); `;

async function callOf(name: string, script: string, timeMs = limits.timeMs, own: Partial<SyncImports> = {}) {
  const entry = join(directory, `${name}.cjs`);
  writeFileSync(entry, `${prelude}${script}\n}`);
  pool = new ProcessPool({ entry, warm: 0, maxProcesses: 1 });
  const { imports: recording, calls } = recordingImports();
  const imports = { ...recording, ...own };
  const bounds = { limits: { ...limits, timeMs }, deadlineMs: 120_000 };
  const result = await pool.call({ component, verb: "add", request: plainRequests.add, ...bounds }, imports);
  return { result, calls };
}

const cases: readonly (readonly [about: string, name: string, script: string, kind: string])[] = [
  [
    "calls a capability that was not granted",
    "ungranted",
    'send(17, { capability: "resolver", func: "read", args: ["/etc/shadow"] }); read(); answered(good);',
    "ABI_VIOLATED",
  ],
  [
    "calls a member of every object's prototype",
    "prototype",
    'send(17, { capability: "constructor", func: "constructor", args: [] }); read(); answered(good);',
    "ABI_VIOLATED",
  ],
  [
    "calls a function of another name",
    "function",
    'send(17, { capability: "leases", func: "toString", args: [] }); read(); answered(good);',
    "ABI_VIOLATED",
  ],
  [
    "calls with arguments of other types",
    "arguments",
    'send(17, { capability: "leases", func: "probe", args: [{ directory: {}, set: -1 }] }); read(); answered(good);',
    "ABI_VIOLATED",
  ],
  [
    "calls with too few arguments",
    "few",
    'send(17, { capability: "leases", func: "reserve", args: [] }); read(); answered(good);',
    "ABI_VIOLATED",
  ],
  ["answers a value of another type", "answer", 'answered({ ok: { interfaces: "x", ips: [], routes: [] } });', "ABI_VIOLATED"],
  [
    "answers an address that is not a text",
    "address",
    "answered({ ok: { interfaces: [], ips: [{ address: { toString: 1 } }], routes: [] } });",
    "ABI_VIOLATED",
  ],
  ["answers no result", "none", "answered(null);", "ABI_VIOLATED"],
  [
    "answers a fault of a kind that a sandbox process may not send",
    "kind",
    'send(19, { kind: "broken", fault: "STORE_FAILED", message: "x" });',
    "ABI_VIOLATED",
  ],
  ["announces a frame of 4 GiB", "long", "raw(Buffer.of(255, 255, 255, 255)); call();", "SANDBOX_UNAVAILABLE"],
  [
    "writes bytes that are not a frame",
    "noise",
    'raw(Buffer.from("HTTP/1.1 200 OK\\r\\n\\r\\n")); call();',
    "SANDBOX_UNAVAILABLE",
  ],
  ["sends frames of a type that only the engine sends", "type", "send(2, {}); call();", "ABI_VIOLATED"],
  ["answers UNKNOWN again for a component that it received", "unknown", "for (;;) { send(20, {}); call(); }", "ABI_VIOLATED"],
  ["floods the log", "flood", 'for (;;) send(18, { level: "info", message: "x".repeat(1000) });', "ABI_VIOLATED"],
  ["sends nothing", "silent", "call();", "LIMIT_TIME"],
  ["runs for ever", "spins", "call(); for (;;);", "LIMIT_TIME"],
  [
    "sends a frame of another call",
    "another",
    "send(19, { kind: 'answered', answer: good, report: {} }, number + 1);",
    "ABI_VIOLATED",
  ],
  ["exits", "ends", "process.exit(3);", "SANDBOX_UNAVAILABLE"],
];

describe("a sandbox process under a guest's control", () => {
  it.each(cases)("%s: the call fails, and no capability except log is called", async (_, name, script, kind) => {
    const { result, calls } = await callOf(name, script, kind === "LIMIT_TIME" ? 300 : undefined);
    expect(result).toMatchObject({ ok: false, fault: { kind } });
    expect(calls.filter(([capability]) => capability !== "log.write")).toEqual([]);
    expect(calls.length).toBeLessThanOrEqual(limits.logLines + 1);
  });

  it("asks for large answers without reading them: the engine keeps a bounded number of them", async () => {
    let asked = 0;
    const probe = () => {
      asked += 1;
      return { err: { code: 1, msg: "x".repeat(1 << 20) } };
    };
    const { leases } = recordingImports().imports;
    if (leases === undefined) throw new Error("no leases");
    const script = 'for (let i = 0; i < 400; i++) send(17, { capability: "leases", func: "probe", args: [{ set: 1 }] }); call();';
    const { result } = await callOf("unread", script, undefined, { leases: { ...leases, probe } });
    expect(result).toMatchObject({
      ok: false,
      fault: { kind: "SANDBOX_UNAVAILABLE", msg: expect.stringContaining("asked without reading its answers") },
    });
    expect(asked).toBeLessThan(200);
  });

  it("sends extra keys, which are dropped", async () => {
    const script =
      'send(19, JSON.parse(\'{"kind":"answered","report":{},"answer":{"ok":{"interfaces":[],"ips":[],"routes":[],"__proto__":{"polluted":1},"extra":2}}}\'));';
    const { result } = await callOf("extra", script);
    expect(result.ok && Object.keys(result.value.value)).toEqual(["interfaces", "ips", "routes", "dns"]);
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });
});
