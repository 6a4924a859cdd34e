import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

import {
  kubernetesConformancePage,
  kubernetesConformancePagePath,
  kubernetesConformancePath,
  readKubernetesConformance,
} from "./kubernetes-conformance-page.ts";

const record = readKubernetesConformance(readFileSync(kubernetesConformancePath, "utf8"));

test("the page of Kubernetes' tests is generated from the committed record (npm run docs)", () => {
  expect(readFileSync(kubernetesConformancePagePath, "utf8")).toBe(kubernetesConformancePage(record));
});

test("no test failed in a recorded run, and both runs have the same tests", () => {
  const { native, components } = record.runs;
  expect([...(native?.tests ?? []), ...(components?.tests ?? [])].filter(({ state }) => state === "failed")).toEqual([]);
  if (native === undefined || components === undefined) return;
  expect(components.tests.map(({ title }) => title).toSorted()).toEqual(native.tests.map(({ title }) => title).toSorted());
});
