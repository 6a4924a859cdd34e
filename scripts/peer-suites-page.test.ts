import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { peerSuitesPage, peerSuitesPagePath, peerSuitesPath, readPeerSuites } from "./peer-suites-page.ts";
import { scenarios } from "./peer-suites-scenarios.ts";

const outcomes = readPeerSuites(readFileSync(peerSuitesPath, "utf8"));

test("the page of the peers' tests is generated from the committed outcomes (npm run docs)", () => {
  expect(existsSync(peerSuitesPagePath) && readFileSync(peerSuitesPagePath, "utf8")).toBe(peerSuitesPage(outcomes));
});

test("each test of a suite is counted once: it passes, fails on purpose, or is not possible here", () => {
  for (const { suite, specifications, passed, onPurpose, notHere } of outcomes.suites) {
    const others = [...onPurpose, ...notHere].reduce((sum, { count }) => sum + count, 0);
    expect([suite, passed + others]).toEqual([suite, specifications]);
  }
});

test.each(scenarios)("the test of $source is there", ({ file, title }) => {
  expect(readFileSync(file, "utf8")).toMatch(new RegExp(`["\`]${title.replaceAll(".", String.raw`\.`)}`));
});
