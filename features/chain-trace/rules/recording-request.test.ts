import { expect, test } from "vitest";
import { readRecordingQuery, recordingQuery } from "./recording-request.ts";

test("a request survives its query; without parameters it has the defaults", () => {
  const request = { pod: "shop/cart-*", onlyFailed: true, next: 3, seconds: 60 };
  expect(readRecordingQuery(recordingQuery(request))).toEqual(request);
  expect(readRecordingQuery("next=10")).toEqual({ pod: undefined, onlyFailed: false, next: 10, seconds: 600 });
});

test.each([
  ["next=0", "next must be a whole number from 1 to 1000"],
  ["next=1e3", "next must be a whole number from 1 to 1000"],
  ["seconds=86401", "seconds must be a whole number from 1 to 86400"],
  ["pod=shop", "pod must be NAMESPACE/NAME, in which * is a wildcard"],
  ["directory=/etc", "unknown parameter directory"],
])("%s is refused", (query, why) => {
  expect(readRecordingQuery(query)).toBe(why);
});
