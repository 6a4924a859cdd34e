import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { canariesText } from "../../../scripts/canaries.ts";
import { failed } from "../../../src/fault/result.ts";
import { fault } from "../../../src/fault/fault.ts";
import { InProcessRunner } from "../../sandbox/in-process.ts";
import type { Limits } from "../../sandbox/limits.ts";
import type { GuestRunner } from "../../sandbox/runner.ts";
import { canaryComponents } from "./canaries/canary-components.ts";
import { proofLimits, proveLimits } from "./prove-limits.ts";

const slow = 60_000;

async function red(
  limits: Partial<Limits> = {},
  runner: GuestRunner = new InProcessRunner(),
  names?: readonly string[],
): Promise<readonly string[]> {
  const proofs = await proveLimits(runner, { ...proofLimits, ...limits }, names);
  return proofs.filter(({ holds }) => !holds).map(({ name }) => name);
}

test("X-6: every limit holds", async () => {
  expect(await red()).toEqual([]);
});

const off: readonly (readonly [canary: string, limits: Partial<Limits>])[] = [
  ["spin", { timeMs: slow }],
  ["memory", { memoryPages: 16_384 }],
  ["output", { outputBytes: 16 * 1024 * 1024 }],
  ["input", { inputBytes: 16 * 1024 * 1024 }],
  ["log", { logLines: 1_000_000, logBytes: 16 * 1024 * 1024 }],
  ["imports", { importCalls: 1_000_000, timeMs: slow }],
];

test.each(off)("X-6: a limit that is switched off is red: %s", { timeout: slow }, async (canary, limits) => {
  expect(await red(limits, new InProcessRunner(), [canary])).toEqual([canary]);
});

test("X-6: a sandbox that cannot run a component is red for each limit of a call", async () => {
  const runner: GuestRunner = {
    call: async () => failed(fault("SANDBOX_UNAVAILABLE", "no process")),
    close: async () => undefined,
  };
  const calls = Object.keys(canaryComponents).filter((name) => name !== "capability");
  expect((await red({}, runner)).toSorted()).toEqual(calls.toSorted());
});

test("the components are generated from their sources (node scripts/canaries.ts)", async () => {
  const text = await canariesText();
  const written = readFileSync(new URL("./canaries/canary-components.ts", import.meta.url), "utf8");
  expect(base64In(written)).toEqual(base64In(text));
});

function base64In(text: string): readonly unknown[] {
  return [...text.matchAll(/"([A-Za-z0-9+/=]{40,})"/g)].map(([, value]) => value);
}
