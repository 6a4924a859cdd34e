// The test of the tests: none asserts that something took less than a time, because other programs of a machine take time too.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../lab/compiled.ts";
import { clockFindings } from "./wall-clock.ts";

/** Files that may, with the reason. */
const exceptions: ReadonlyMap<string, string> = new Map([
  ["test/docs/wall-clock.test.ts", "has the examples of this rule"],
  ["test/api/pod-life.long.test.ts", "a token of an hour expires later than 50 minutes from now"],
]);

const files = globSync(["{wit,src,host,features,scripts,bench,delegates}/**/*.test.ts", "test/**/*.ts"], { cwd: root })
  .filter((path) => !path.includes("node_modules") && !path.includes("/assembly/"))
  .toSorted();

test("no test asserts that something took less than a time on a clock, and no wait is shorter than a minute", () => {
  const findings = files
    .filter((file) => !exceptions.has(file))
    .flatMap((file) =>
      clockFindings(readFileSync(join(root, file), "utf8")).map(({ line, rule, text }) => `${file}:${line}: ${rule}: ${text}`),
    );
  expect(findings).toEqual([]);
  expect(files.length).toBeGreaterThan(400);
});

test("each exception names a file that needs it", () => {
  const needless = [...exceptions.keys()].filter((file) => clockFindings(readFileSync(join(root, file), "utf8")).length === 0);
  expect(needless.filter((file) => file !== "test/docs/wall-clock.test.ts")).toEqual([]);
});

describe("the rule", () => {
  test.each([
    "expect(performance.now() - started).toBeLessThan(1000);",
    "const took = Date.now() - begun; expect(took).toBeLessThanOrEqual(300);",
    "let longest = 0; longest = Math.max(longest, performance.now() - begun); expect(longest).toBeLessThan(5);",
    "expect(answer.ms).toBeLessThan(3000);",
    "expect(added.ms + deleted.ms).toBeLessThan(3000);",
    "expect(1000).toBeGreaterThan(performance.now() - started);",
    "expect(performance.now() - started < 500).toBe(true);",
    "const end = performance.now(); const ms = end - begun; expect(ms, 'text').not.toBeGreaterThan(1); expect(ms).toBeLessThan(2);",
  ])("finds %s", (text) => {
    expect(clockFindings(text).map(({ rule }) => rule)).toContain("asserts that a time is short");
  });

  test.each(["await expect.poll(read, { timeout: 2_000 }).toBe(1);", "await vi.waitFor(read, { timeout: 500 });"])(
    "finds %s",
    (text) => {
      expect(clockFindings(text)).toMatchObject([{ line: 1, rule: "waits less than a minute for what must come" }]);
    },
  );

  test.each([
    "expect(performance.now() - started).toBeGreaterThan(300);",
    "expect(cpuMs() - started).toBeLessThan(200);",
    "expect(text.length).toBeLessThan(2000);",
    "expect(effect.deadlineMs).toBeLessThanOrEqual(7000);",
    "await expect.poll(read, { timeout: 60_000 }).toBe(1);",
    "const timed = async () => performance.now(); expect(await counted()).toBeLessThan(3);",
  ])("passes %s", (text) => {
    expect(clockFindings(text)).toEqual([]);
  });
});
