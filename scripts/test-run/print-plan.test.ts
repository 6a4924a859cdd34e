import { expect, test } from "vitest";
import { absentPrograms, optionalPrograms } from "./optional-programs.ts";
import { planLines } from "./print-plan.ts";

const counts = new Map([
  ["unit", 300],
  ["test/node", 100],
]);

test("the plan of a run is three lines: what runs, what the machine lacks and how to get it, and how long it takes", () => {
  const go = optionalPrograms.filter(({ name }) => name === "go");
  const [runs, lacks, takes, ...more] = planLines(counts, go, 421);
  expect(more).toEqual([]);
  expect(runs).toBe("runs 400 test files: unit 300, test/node 100");
  expect(lacks).toMatch(/^the machine lacks go \(untested: a real API server .*; install Go .*\)$/);
  expect(takes).toBe("takes about 8 minutes, as the last run here");
});

test("a machine with everything is said to have everything", () => {
  expect(planLines(counts, [], undefined)[1]).toBe("the machine has every optional program");
});

test("a program is looked up in each directory of PATH", () => {
  expect(absentPrograms("")).toEqual(optionalPrograms);
  expect(absentPrograms("/nowhere").map(({ name }) => name)).toContain("go");
});
