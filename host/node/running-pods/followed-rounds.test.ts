import { expect, test } from "vitest";
import { FollowedRounds } from "./followed-rounds.ts";

test("PO-20: a round ends when the work for each pod has succeeded, and its age grows until the next one ends", () => {
  let now = 5_000;
  let ended = 0;
  const rounds = new FollowedRounds(
    () => now,
    () => void (ended += 1),
  );
  expect(rounds.ageSeconds).toBeUndefined();
  rounds.begin(["a/one", "a/two"]);
  rounds.succeeded("a/one");
  rounds.succeeded("a/one");
  rounds.succeeded("b/other");
  expect([ended, rounds.ageSeconds]).toEqual([0, undefined]);
  // The next round takes the failed pod over.
  rounds.begin(["a/two"]);
  rounds.succeeded("a/two");
  now += 2_500;
  rounds.succeeded("a/two");
  expect([ended, rounds.ageSeconds]).toEqual([1, 2.5]);
  rounds.begin([]);
  expect([ended, rounds.ageSeconds]).toEqual([2, 0]);
});
