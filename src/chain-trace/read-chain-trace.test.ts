import { describe, expect, test } from "vitest";
import { chainTraceText, readChainTrace } from "./read-chain-trace.ts";
import { exampleStep, exampleTrace } from "./testing/example-trace.ts";

function problemOf(document: unknown): string {
  const read = readChainTrace(typeof document === "string" ? document : JSON.stringify(document), "a.json");
  return read.ok ? "" : `${read.fault.kind} ${read.fault.msg}`;
}

function written(): Record<string, unknown> {
  return JSON.parse(chainTraceText(exampleTrace())) as Record<string, unknown>;
}

describe("readChainTrace", () => {
  test("reads what was written, with nested steps", () => {
    const nested = exampleStep({ caller: "nested-call", verdicts: [{ kind: "limit", text: "The step may take 5 ms." }] });
    const native = exampleStep({
      type: "bridge",
      kind: "native",
      component: undefined,
      native: { path: "/opt/cni/bin/bridge", exit: "exit status 1", stderr: "no\n" },
      outcome: { ok: false, fault: { kind: "PLUGIN_FAILED", code: 11, msg: "no", details: undefined } },
      steps: [nested],
    });
    const trace = exampleTrace([native, exampleStep()]);
    expect(readChainTrace(chainTraceText(trace), "a.json")).toEqual({ ok: true, value: trace });
  });

  test("computes changes from input and output, whatever the file claims", () => {
    const document = written();
    document["steps"] = (document["steps"] as object[]).map((step) => ({ ...step, changes: [], result: { forged: true } }));
    const read = readChainTrace(JSON.stringify(document), "a.json");
    expect(read.ok && read.value.steps[0]?.changes).toEqual([{ op: "add", path: "/ips/0", value: { address: "10.1.0.2/24" } }]);
    expect(read.ok && read.value.steps[0]?.result).toEqual({ cniVersion: "1.1.0", ips: [{ address: "10.1.0.2/24" }] });
  });

  test.each<[string, unknown, string]>([
    ["a text that is no JSON", "{", "TRACE_INVALID a.json is not JSON"],
    ["a list", [], "TRACE_INVALID a.json must be a JSON object, but is an array"],
    ["another kind", { apiVersion: "plexus/v1", kind: "NodeStatus" }, 'kind must be "ChainTrace", but is "NodeStatus"'],
    ["another version", { apiVersion: "plexus/v9", kind: "ChainTrace" }, 'apiVersion must be "plexus/v1", but is "plexus/v9"'],
    ["a step that is no object", { ...written(), steps: [1] }, "steps.0: must be an object"],
    ["a step without fields", { ...written(), steps: [{}] }, "steps.0.network: is missing"],
    ["a negative duration", { ...written(), ms: -1 }, "ms: must be a number of milliseconds"],
    ["a foreign verb", { ...written(), call: { verb: "EAT", stdin: "" } }, "call.verb: must be a value of CNI_COMMAND"],
    ["texts of another type", { ...written(), omitted: [1] }, "omitted: must be a list of strings"],
  ])("refuses %s and names the field", (_, document, problem) => {
    expect(problemOf(document)).toContain(problem);
  });

  test("names few of many problems", () => {
    const problem = problemOf({ ...written(), steps: Array.from({ length: 500 }, () => ({})) });
    expect(problem).toMatch(/; and \d+ more$/);
    expect(problem.length).toBeLessThan(1000);
  });

  test("bounds the number of steps, nested ones included", () => {
    const [step] = written()["steps"] as object[];
    const wide = { ...step, steps: Array.from({ length: 3000 }, () => step) };
    expect(problemOf({ ...written(), steps: [wide, wide] })).toContain("must have at most");
    expect(problemOf({ ...written(), steps: Array.from({ length: 4001 }, () => 1) })).toContain("must have at most 4000");
  });

  test("bounds the depth of nested steps", () => {
    expect(problemOf(`{"steps":${'[{"steps":'.repeat(200)}[]${"}]".repeat(200)}}`)).toContain("nested deeper than 300 levels");
  });

  test("ignores fields of a later release", () => {
    expect(problemOf({ ...written(), later: { a: 1 } })).toBe("");
  });
});
