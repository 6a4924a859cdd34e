import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { policyScales, scale } from "./policy-scale.ts";
import { policyScalePage, policyScalePath } from "./policy-scale-page.ts";

test("the page of policies of many pods is generated from the counts and the benchmark (npm run docs)", () => {
  expect(readFileSync(policyScalePath, "utf8")).toBe(policyScalePage());
});

test("PO-12: with 1,000 pods and 200 policies, a changed peer is one PATCH, and elements only in the kernel", () => {
  const { ofWorkloads, forAll } = policyScales();
  expect([ofWorkloads.ofPod, forAll.ofPod, ofWorkloads.tables, forAll.tables]).toEqual([4, scale.policies, scale.workloads, 1]);
  for (const { change } of [ofWorkloads, forAll]) expect(change).toMatchObject({ slices: 1, pods: scale.pods });
  // A peer's address in both families leaves and enters each set that names it.
  expect([ofWorkloads.change.ofPod.count, forAll.change.ofPod.count]).toEqual([8, 4 * (scale.policies / scale.workloads)]);
  expect(forAll.rulesOfPod).toBeLessThan(5 * scale.policies);
});
