import { describe, expect, test } from "vitest";
import type { StepRecord } from "../../../src/chain-trace/chain-trace.ts";
import { outcomeDifference, traceDifferences } from "./trace-differences.ts";
import { exampleStep, exampleTrace } from "../../../src/chain-trace/testing/example-trace.ts";

const nested = (mtu: number): StepRecord => exampleStep({ type: "inner", caller: "delegate", stdin: JSON.stringify({ mtu }) });
const failure = { ok: false, fault: { kind: "LIMIT_TIME", code: 11, msg: "too long", details: undefined } } as const;

describe("outcomeDifference", () => {
  test("equal outcomes have none; a fault's details do not count", () => {
    expect(outcomeDifference({ ok: true, stdout: "{}" }, { ok: true, stdout: "{}" })).toBeUndefined();
    const other = { ...failure, fault: { ...failure.fault, details: "more" } };
    expect(outcomeDifference(failure, other)).toBeUndefined();
  });

  test("names the place of a result, or both outcomes", () => {
    expect(outcomeDifference({ ok: true, stdout: '{"a":1}' }, { ok: true, stdout: '{"a":2}' })).toEqual({
      text: "another result",
      changes: [{ op: "replace", path: "/a", before: 1, value: 2 }],
    });
    expect(outcomeDifference(failure, { ok: true, stdout: "" })?.text).toBe("success; recorded: LIMIT_TIME (code 11): too long");
  });
});

describe("traceDifferences", () => {
  test("equal traces have none, whatever their times are", () => {
    const slow = exampleTrace([exampleStep({ ms: 900, startMs: 70 })]);
    expect(traceDifferences(exampleTrace(), { ...slow, ms: 5000, time: "2027-01-01T00:00:00.000Z" })).toEqual([]);
  });

  test("names changed places of a step, nested ones with their caller, and steps of one trace only", () => {
    const before = exampleTrace([exampleStep({ steps: [nested(1400)] }), exampleStep({ type: "gone" })]);
    const after = exampleTrace([exampleStep({ steps: [nested(1500)] }), exampleStep({ type: "new", purpose: "undo" })]);
    expect(traceDifferences(before, { ...after, reply: { status: 1, stdout: before.reply.stdout } })).toEqual([
      { step: "call", changes: [{ op: "replace", path: "/status", before: 0, value: 1 }] },
      {
        step: "ADD host-local of pods as eth0 > ADD inner of pods as eth0",
        changes: [{ op: "replace", path: "/stdin/mtu", before: 1400, value: 1500 }],
      },
      { step: "ADD gone of pods as eth0", only: "before", changes: [] },
      { step: "ADD new (undo) of pods as eth0", only: "after", changes: [] },
    ]);
  });
});
