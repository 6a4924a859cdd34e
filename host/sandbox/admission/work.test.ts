// The work of an admission: each dimension of a component is grown tenfold and a hundredfold. The time grows with the bytes, or the component
// is refused early.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { warmUpPath, warmUpText } from "../../../scripts/warm-up-component.ts";
import {
  deepDescription,
  importedItems,
  longCoreImports,
  longFunction,
  longFunctionType,
  manyCoreSections,
  manyFunctions,
  manySections,
  manySegments,
  manyTypes,
  nestedInstances,
} from "../../../test/hostile/components/grown.ts";
import { maxWork } from "../binary/work-budget.ts";
import { defaultLimits } from "../limits.ts";
import { examineComponent } from "./examine.ts";
import { warmUpExamination } from "./warm-up.ts";

type Outcome = "admitted" | RegExp;

interface Dimension {
  readonly about: string;
  readonly build: (factor: number) => Uint8Array | Promise<Uint8Array>;
  /** The outcomes at the factors 1, 10 and 100. */
  readonly outcomes: readonly [Outcome, Outcome, Outcome];
}

const refusedBudget = (limit: number, what: string): RegExp => new RegExp(`more than ${limit} ${what}: \\d+`);
const nothing = /exports nothing|does not declare itself/;

const dimensions: readonly Dimension[] = [
  {
    about: "elements of a type that a refusal describes",
    build: (n) => deepDescription(10 * n),
    outcomes: [/has the type/, /has the type/, /has the type/],
  },
  {
    about: "instances of a nested component",
    build: (n) => nestedInstances(2 * n, 50_000),
    outcomes: [nothing, nothing, refusedBudget(maxWork.definitionBytes, "bytes of definitions")],
  },
  {
    about: "bytes of a nested component with twenty instances",
    build: (n) => nestedInstances(20, 4_000 * n),
    outcomes: [nothing, nothing, refusedBudget(maxWork.definitionBytes, "bytes of definitions")],
  },
  {
    about: "exports of one long function type",
    build: (n) => longFunctionType(150 * n),
    outcomes: [nothing, nothing, nothing],
  },
  {
    about: "imports of one long instance type",
    build: (n) => importedItems(19, 40 * n),
    outcomes: [nothing, nothing, refusedBudget(maxWork.importedItems, "functions and types of imported instances")],
  },
  { about: "types", build: (n) => manyTypes(150 * n), outcomes: [nothing, nothing, nothing] },
  {
    about: "sections",
    build: (n) => manySections(120 * n),
    outcomes: [nothing, nothing, refusedBudget(maxWork.sections, "sections")],
  },
  {
    about: "sections of a core module",
    build: (n) => manyCoreSections(100 * n),
    outcomes: ["admitted", "admitted", refusedBudget(maxWork.sections, "sections")],
  },
  { about: "functions with loops", build: (n) => manyFunctions(900 * n), outcomes: ["admitted", "admitted", "admitted"] },
  { about: "blocks of a function", build: (n) => longFunction(200 * n), outcomes: ["admitted", "admitted", "admitted"] },
  { about: "data segments and globals", build: (n) => manySegments(900 * n), outcomes: ["admitted", "admitted", "admitted"] },
  {
    about: "imports of a core function type with a thousand parameters",
    build: (n) => longCoreImports(10, 10 * n),
    outcomes: ["admitted", "admitted", refusedBudget(maxWork.coreImports, "imports of core instances")],
  },
];

interface Measured {
  readonly outcome: string;
  readonly cpuMs: number;
  readonly bytes: number;
}

/** The least CPU time of three examinations: other processes of the machine only make one longer. */
function measure(bytes: Uint8Array): Measured {
  let cpuMs = Infinity;
  let outcome = "";
  for (let round = 0; round < 3; round += 1) {
    const before = process.threadCpuUsage();
    const examined = examineComponent(bytes, defaultLimits);
    const { user, system } = process.threadCpuUsage(before);
    cpuMs = Math.min(cpuMs, (user + system) / 1000);
    outcome = examined.ok ? "admitted" : examined.fault.msg;
  }
  return { outcome, cpuMs, bytes: bytes.length };
}

describe("the time of an admission", () => {
  it.each(dimensions)("grows at most with the bytes: $about", async ({ build, outcomes }) => {
    const measured = [];
    for (const factor of [1, 10, 100]) measured.push(measure(await build(factor)));
    for (const [index, { outcome }] of measured.entries()) expect(outcome).toMatch(outcomes[index] ?? "");
    for (const { cpuMs, bytes } of measured) {
      expect(bytes).toBeLessThanOrEqual(defaultLimits.componentBytes);
      // A fixed part, and some microseconds for each byte on a slow, busy machine. A step that is not linear takes many seconds.
      expect(cpuMs).toBeLessThan(200 + bytes / 250);
    }
  });

  it("is short for a component of 4 KB whose type would have a text of a thousand million parts", () => {
    const bytes = deepDescription(1000);
    expect(bytes.length).toBeLessThan(4096);
    const { outcome, cpuMs } = measure(bytes);
    expect(outcome).toContain("has the type tuple<tuple<tuple<u8, u8,");
    expect(outcome.length).toBeLessThan(1000);
    expect(cpuMs).toBeLessThan(50);
  });

  it("is short for 200 instances of a nested component of 3.6 MB", () => {
    const { outcome, cpuMs } = measure(nestedInstances(200, 3_600_000));
    expect(outcome).toMatch(refusedBudget(maxWork.definitionBytes, "bytes of definitions"));
    expect(cpuMs).toBeLessThan(200);
  });

  it("is warmed up with a component that is admitted; it is current: run `node scripts/warm-up-component.ts`", async () => {
    expect(warmUpExamination()).toBe(true);
    expect(readFileSync(warmUpPath, "utf8")).toBe(await warmUpText());
  });

  it("refuses an import that appears twice", () => {
    const twice = importedItems(2, 1);
    const text = Buffer.from(twice).toString("latin1").replaceAll("@0.0.1", "@0.0.0");
    expect(measure(Buffer.from(text, "latin1")).outcome).toMatch(/appears twice/);
  });
});
