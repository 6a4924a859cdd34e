import { expect, test } from "vitest";
import { FollowedRounds } from "./followed-rounds.ts";

test("PO-20: a round ends when the work for each pod has succeeded, and its age grows until the next one ends", () => {
  let now = 5_000;
  const ends: (readonly string[])[] = [];
  const rounds = new FollowedRounds(
    () => now,
    (failed) => void ends.push(failed),
  );
  expect(rounds.ageSeconds).toBeUndefined();
  rounds.begin(["a/one", "a/two"]);
  rounds.succeeded("a/one");
  rounds.succeeded("a/one");
  rounds.succeeded("b/other");
  expect([ends, rounds.ageSeconds]).toEqual([[], undefined]);
  // The next round takes the failed pod over, and the given up one has no age.
  rounds.begin(["a/two"]);
  expect([ends, rounds.ageSeconds]).toEqual([[["a/two"]], undefined]);
  rounds.succeeded("a/two");
  now += 2_500;
  rounds.succeeded("a/two");
  expect([ends, rounds.ageSeconds]).toEqual([[["a/two"], []], 2.5]);
  rounds.begin([]);
  expect([ends.length, rounds.ageSeconds]).toEqual([3, 0]);
});
