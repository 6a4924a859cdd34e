import { expect, test } from "vitest";
import { retryAfter } from "./json-client.ts";

/** The header with a date so many seconds from now. */
function inSeconds(seconds: number): string {
  return new Date(Date.now() + seconds * 1000).toUTCString();
}

function pauseOf(header: string): number | undefined {
  return retryAfter(new Headers({ "retry-after": header }));
}

test("the pause of a Retry-After header is a number of seconds or a date, and an hour at most", () => {
  expect(pauseOf("7")).toBe(7_000);
  expect(pauseOf(inSeconds(60))).toBeGreaterThan(50_000);
  expect(pauseOf(inSeconds(60))).toBeLessThanOrEqual(60_000);
  for (const header of ["0", "-1", "3601", "soon", inSeconds(-60), inSeconds(7_200)]) expect(pauseOf(header)).toBeUndefined();
});
