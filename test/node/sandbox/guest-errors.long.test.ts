// The text with which a language's runtime reports an error reaches the error's details and the log, in both runners.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleGuestProgram } from "../../hostile/components/guest-program.ts";
import { buildJavaScript } from "../../hostile/components/oracle/build.ts";
import { plainRequests } from "../../hostile/components/requests.ts";
import { Admission, type AdmittedComponent } from "../../../host/sandbox/admission/admit.ts";
import { InProcessRunner } from "../../../host/sandbox/in-process.ts";
import { defaultLimits, type Limits } from "../../../host/sandbox/limits.ts";
import { maxLastLines } from "../../../host/sandbox/linker/guest-output.ts";
import { ProcessPool } from "../../../host/sandbox/process/pool.ts";
import type { GuestRunner } from "../../../host/sandbox/runner.ts";

const source = `
function fails(network) {
  if (network.name === "null") return null.x;
  if (network.name === "type") return { interfaces: 7 };
  if (network.name === "clock") return Date.now();
  if (network.name === "hostile") throw new Error("\\u001b[2J\\u202e" + "line\\n".repeat(10) + "x".repeat(1e5));
  throw new Error("no pool for " + network.name);
}
export const plugin = {
  add: ({ network }) => fails(network),
  del: () => { throw { code: 101, msg: "still in use", details: undefined }; },
  check() {}, gc() {}, status() {},
};`;

let throwsBytes: Uint8Array;
const components = new Map<string, AdmittedComponent>();
const runners = new Map<string, GuestRunner>();

beforeAll(async () => {
  const entry = await bundleGuestProgram();
  runners.set("in-process", new InProcessRunner()).set("process", new ProcessPool({ entry, warm: 1 }));
  for (const [name, imported] of [
    ["throws", ["log"]],
    ["silent", []],
  ] as const) {
    const bytes = await buildJavaScript(name, source, imported);
    if (name === "throws") throwsBytes = bytes;
    const admitted = new Admission().admit(bytes, { granted: imported, limits: defaultLimits });
    if (!admitted.ok) throw new Error(admitted.fault.msg);
    components.set(name, admitted.value);
  }
});
afterAll(async () => {
  for (const runner of runners.values()) await runner.close();
});

async function addIn(runner: string, name: string, network: string, more: Partial<Limits> = {}) {
  const component = components.get(name);
  if (component === undefined) throw new Error(`no component ${name}`);
  const log: string[] = [];
  const request = { ...plainRequests.add, network: { cniVersion: "1.1.0", name: network, config: "{}" } };
  const result = await runners
    .get(runner)
    ?.call(
      { component, verb: "add", request, limits: { ...defaultLimits, ...more }, deadlineMs: 60_000 },
      { log: { write: (level, message) => void log.push(`${level}: ${message}`) } },
    );
  if (result === undefined || result.ok) throw new Error("the call succeeded");
  return { ...result.fault, details: result.fault.details ?? "", log };
}

describe.each(["in-process", "process"])("JavaScript, %s", (runner) => {
  it.each([
    ["pods", `message: Some("no pool for pods")`, "at fails (/throws.js:7:"],
    ["null", "cannot read property 'x' of null", "at fails (/throws.js:3:"],
    ["type", "expected array", ""],
  ])("an error of network %s has its message and place in the details and in the log", async (network, message, place) => {
    const { kind, details, log } = await addIn(runner, "throws", network);
    expect(kind).toBe("DELEGATE_TRAPPED");
    for (const text of [details, log.join("\n")]) {
      expect(text).toContain(message);
      expect(text).toContain(place);
    }
    expect(log.every((line) => line.startsWith("error: "))).toBe(true);
  });

  it("a component without the capability log writes no log; the details have the error", async () => {
    const { details, log } = await addIn(runner, "silent", "pods");
    expect(details).toContain("no pool for pods");
    expect(details).toContain("/silent.js:7:");
    expect(log).toEqual([]);
  });

  it("E-15: hostile text is bounded and without control characters", async () => {
    const { details, log } = await addIn(runner, "throws", "hostile", { logBytes: 2000, logLines: 8 });
    expect(details.length).toBeLessThan(maxLastLines + 300);
    expect(log.length).toBeLessThanOrEqual(9);
    expect(Buffer.byteLength(log.join(""))).toBeLessThanOrEqual(2300);
    for (const text of [details, ...log]) {
      expect(text).not.toContain("\u001b");
      expect(text).not.toContain("\u202e");
    }
  });

  it("a function that gives power still traps, and the error names it", async () => {
    const { kind, msg } = await addIn(runner, "throws", "clock");
    expect(kind).toBe("DELEGATE_TRAPPED");
    expect(msg).toContain("called wasi:clocks/wall-clock");
  });
});

function refusal(more: Partial<Limits>): string {
  const result = new Admission().admit(throwsBytes, { granted: ["log"], limits: { ...defaultLimits, ...more } });
  return result.ok ? "admitted" : result.fault.msg;
}

describe("a refusal names the key that changes the limit", () => {
  it("of a component's size and of its core instances", () => {
    expect(refusal({})).toBe("admitted");
    expect(refusal({ componentBytes: 1024 })).toBe(
      `component refused: ${throwsBytes.length} bytes (at most 1024: wasm.limits.componentMiB)`,
    );
    expect(refusal({ coreInstances: 2 })).toContain("more than 2 core instances: 3");
    expect(refusal({ coreInstances: 2 })).toContain("wasm.limits.coreInstances");
  });
});
