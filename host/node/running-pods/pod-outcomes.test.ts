import { expect, test } from "vitest";
import { PodOutcomes } from "./pod-outcomes.ts";

test("a failure and a shortfall of a pod are logged once, and forgotten with the next success", () => {
  const warned: string[] = [];
  const outcomes = new PodOutcomes((text) => void warned.push(text));
  outcomes.note("a/b", { failure: "no API", shortfall: "" });
  outcomes.note("a/b", { failure: "no API", shortfall: "" });
  expect([outcomes.isNews("a/b", "no API"), outcomes.isNews("a/b", "other"), outcomes.isNews("a/c", "no API")]).toEqual([
    false,
    true,
    true,
  ]);
  outcomes.note("a/b", { failure: "", shortfall: "the node holds it" });
  expect(outcomes.isNews("a/b", "the node holds it")).toBe(false);
  expect([outcomes.failures, outcomes.shortfalls, outcomes.of("a/b")]).toEqual([0, 1, { shortfall: "the node holds it" }]);
  outcomes.note("a/b", { failure: "", shortfall: "" });
  expect([outcomes.failures, outcomes.shortfalls, outcomes.of("a/b")]).toEqual([0, 0, {}]);
  outcomes.note("a/b", { failure: "no API", shortfall: "" });
  outcomes.forget("a/b");
  expect(outcomes.failures).toBe(0);
  expect(warned).toEqual(["pod a/b: no API", "pod a/b: the node holds it", "pod a/b: no API"]);
});
