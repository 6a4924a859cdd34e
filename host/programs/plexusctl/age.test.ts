import { expect, test } from "vitest";
import { ageOf } from "./age.ts";

const now = "2026-11-24T12:00:00Z";

test("an age has the largest unit of which two have passed", () => {
  const times = ["2026-11-24T11:59:59Z", "2026-11-24T11:58:30Z", "2026-11-24T09:00:00Z", "2026-11-20T09:00:00Z"];
  expect(times.map((each) => ageOf(each, now, "words"))).toEqual(["1 second", "90 seconds", "3 hours", "4 days"]);
  expect(times.map((each) => ageOf(each, now, "short"))).toEqual(["1s", "90s", "3h", "4d"]);
});

test("a later time has no negative age; a missing or malformed time is unknown", () => {
  expect(["2026-11-24T13:00:00Z", undefined, "soon"].map((each) => ageOf(each, now, "words"))).toEqual([
    "0 seconds",
    "unknown",
    "unknown",
  ]);
});
