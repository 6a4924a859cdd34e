import { describe, expect, it } from "vitest";
import { costlyComponent, type CostlyConstruct, costlyConstructs } from "../../../test/hostile/components/costly-code.ts";
import { maxWork, ofComponentByte } from "../binary/work-budget.ts";
import { defaultLimits } from "../limits.ts";
import { examineComponent } from "./examine.ts";

function constructOf(about: string): CostlyConstruct {
  const construct = costlyConstructs.find((each) => each.about === about);
  if (construct === undefined) throw new Error(about);
  return construct;
}

async function verdict(construct: CostlyConstruct, count: number): Promise<string> {
  const examined = examineComponent(await costlyComponent(construct, count), defaultLimits);
  return examined.ok ? "admitted" : examined.fault.msg;
}

describe("FI-03: code that makes V8 work is bounded at admission", () => {
  it.each(costlyConstructs)("$about: one is admitted, and V8 accepts it", async (construct) => {
    const examined = examineComponent(await costlyComponent(construct, 1), defaultLimits);
    if (!examined.ok) throw new Error(examined.fault.msg);
    for (const module of examined.value.modules) expect(() => new WebAssembly.Module(module)).not.toThrow();
  });

  // Each count needs less than 400 KB. Without the budgets, V8 needs a hundred megabytes or seconds for it.
  it.each([
    ["br_if out of a block with 999 results", 5_000],
    ["br_if out of a block with 999 vectors", 5_000],
    ["block with 999 parameters and results", 5_000],
    ["loop with 999 parameters and results", 5_000],
    ["if with 999 parameters and results", 5_000],
    ["call with 999 parameters and results", 300],
    ["call_indirect with 999 parameters and results", 300],
    ["return of 999 values", 5_000],
    ["return_call with 999 parameters", 300],
    ["br_table with 100 labels of 100 results", 100],
    ["br_table with 1000 entries beside 1000 locals", 100],
    ["block with br_if beside 10 000 locals", 2_000],
    ["if beside 10 000 locals", 2_000],
    ["loop beside 10 000 locals", 2_000],
    ["if beside 10 000 operands", 2_000],
    ["call beside 10 000 funcref operands", 20_000],
    ["function with 50 000 locals", 2_000],
    ["nested block", 20_000],
    ["nested loop", 5_000],
    ["loop", 9_000],
    ["chain of conversions that trap", 60_000],
  ])("%s: %i are refused", async (about, count) => {
    expect(await verdict(constructOf(about), count)).toMatch(/^component refused: (?:a function with|more than) \d+ /);
  });

  it("counts all functions of a component", async () => {
    // Each function is below the maxima of a function. Five functions have 35 KB.
    expect(await verdict(constructOf("function with 45 blocks of 999 parameters and results"), 5)).toBe("admitted");
    expect(await verdict(constructOf("function with 45 blocks of 999 parameters and results"), 12)).toContain(
      `more than ${maxWork.machineCode} bytes of machine code`,
    );
    expect(maxWork.machineCode / ofComponentByte.machineCode).toBeLessThan(defaultLimits.componentBytes);
  });
});
