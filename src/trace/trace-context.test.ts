import { assert, property, string } from "fast-check";
import { describe, expect, it, test } from "vitest";
import { parseTraceparent, printTraceparent, traceEnvironment, underSpan } from "./trace-context.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";
const valid = `00-${traceId}-${spanId}-01`;

describe("L-64 a traceparent", () => {
  test.each([
    ["of version 00", valid, true],
    ["without the sampled flag", `00-${traceId}-${spanId}-00`, false],
    ["with unknown flags", `00-${traceId}-${spanId}-0b`, true],
    ["of a later version", `cc-${traceId}-${spanId}-01-what-the-future-brings`, true],
  ])("%s is read", (_, text, sampled) => {
    expect(parseTraceparent(text)).toEqual({ traceId, spanId, sampled });
  });

  test.each([
    ["nothing", ""],
    ["of the forbidden version", `ff-${traceId}-${spanId}-01`],
    ["of version 00 with more", `${valid}-more`],
    ["in capitals", valid.toUpperCase()],
    ["without a trace", `00-${"0".repeat(32)}-${spanId}-01`],
    ["without a span", `00-${traceId}-${"0".repeat(16)}-01`],
    ["cut short", valid.slice(0, -1)],
    ["with a line feed", `${valid}\n`],
    ["of a later version with a wrong separator", `cc-${traceId}-${spanId}-01x`],
  ])("%s is not valid", (_, text) => {
    expect(parseTraceparent(text)).toBeUndefined();
  });

  it("prints unchanged after it was read", () => {
    assert(
      property(string(), (text) => {
        const span = parseTraceparent(text);
        return span === undefined || parseTraceparent(printTraceparent(span)) !== undefined;
      }),
    );
    const span = parseTraceparent(valid);
    expect(span === undefined ? "" : printTraceparent(span)).toBe(valid);
  });
});

describe("L-64 a call's environment", () => {
  const others = [["CNI_COMMAND", "ADD"]] as const;
  const carried = (environment: Record<string, string>, span?: Parameters<typeof traceEnvironment>[1]) =>
    Object.fromEntries(traceEnvironment(new Map([...others, ...Object.entries(environment)]), span));

  it("is passed on unchanged", () => {
    const context = { TRACEPARENT: valid, TRACESTATE: "a=1,b=2", BAGGAGE: "user=x;p=1" };
    expect(carried(context)).toEqual({ CNI_COMMAND: "ADD", ...context });
  });

  it("without a valid traceparent passes on no trace variable", () => {
    const stale = { TRACESTATE: "a=1", BAGGAGE: "user=x" };
    expect(carried(stale)).toEqual({ CNI_COMMAND: "ADD" });
    expect(carried({ ...stale, TRACEPARENT: "00-nonsense\u001B[31m" })).toEqual({ CNI_COMMAND: "ADD" });
  });

  it("leaves out a tracestate and baggage that are malformed or too long", () => {
    expect(carried({ TRACEPARENT: valid, TRACESTATE: "x".repeat(513), BAGGAGE: "a\nb" })).toEqual({
      CNI_COMMAND: "ADD",
      TRACEPARENT: valid,
    });
  });

  it("has the new span as parent, and keeps the tracestate only of the same trace", () => {
    const came = { TRACEPARENT: valid, TRACESTATE: "a=1" };
    const child = { traceId, spanId: "00f067aa0ba902b7", sampled: true };
    expect(carried(came, child)).toMatchObject({ TRACEPARENT: `00-${traceId}-${child.spanId}-01`, TRACESTATE: "a=1" });
    expect(carried({ TRACESTATE: "a=1" }, child)).toEqual({
      CNI_COMMAND: "ADD",
      TRACEPARENT: `00-${traceId}-${child.spanId}-01`,
    });
  });

  it("of a step has the step's span once", () => {
    const child = { traceId, spanId: "00f067aa0ba902b7", sampled: false };
    expect(underSpan([["TRACEPARENT", valid], ...others], child)).toEqual([
      ["CNI_COMMAND", "ADD"],
      ["TRACEPARENT", `00-${traceId}-${child.spanId}-00`],
    ]);
  });
});
