import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { foldersOf, mutationCounts, mutationPage, mutationPagePath, mutationPath, scoreOf } from "./mutation-page.ts";

function mutants(...statuses: readonly string[]): { readonly mutants: readonly { readonly status: string }[] } {
  return { mutants: statuses.map((status) => ({ status })) };
}

test("the mutation page is generated from the committed counts (npm run docs)", () => {
  expect(readFileSync(mutationPagePath, "utf8")).toBe(mutationPage(JSON.parse(readFileSync(mutationPath, "utf8"))));
});

test("each row is of a file that exists: the row of a renamed or deleted one is removed", () => {
  const counts: object = JSON.parse(readFileSync(mutationPath, "utf8"));
  expect(Object.keys(counts).filter((path) => !existsSync(path))).toEqual([]);
});

test("counts a report by file, without ignored and invalid mutants, and sums folders", () => {
  const counts = mutationCounts({
    files: {
      "b/two.ts": mutants("Killed", "Survived", "NoCoverage", "Ignored", "CompileError"),
      "a/none.ts": mutants("Ignored"),
      "b/one.ts": mutants("Killed", "Timeout"),
    },
  });
  expect(Object.keys(counts)).toEqual(["b/one.ts", "b/two.ts"]);
  const [folder] = foldersOf(counts);
  expect(folder).toEqual({ folder: "b", counts: { mutants: 5, killed: 2, timeout: 1, survived: 1, uncovered: 1 } });
  expect(folder && scoreOf(folder.counts)).toBe("60.0");
});
