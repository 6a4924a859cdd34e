// The proof of a call's limits: green as a node has them, and red for each limit that is switched off.

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { root } from "../../lab/compiled.ts";
import { canariesText } from "../../../scripts/canaries.ts";
import { failed } from "../../../src/fault/result.ts";
import { fault } from "../../../src/fault/fault.ts";
import { InProcessRunner } from "../../../host/sandbox/in-process.ts";
import type { GuestRunner } from "../../../host/sandbox/runner.ts";
import { canaryComponents } from "../../../host/node/prove-sandbox/canaries/canary-components.ts";
import { type LimitProof, type ProofSwitches, proveLimits } from "../../../host/node/prove-sandbox/prove-limits.ts";

/** Longer than the canary takes on a machine that does other work. */
const slow = 600_000;
const imports = join(root, "host/node/prove-sandbox/prove-limits.ts");
const runner = join(root, "host/sandbox/in-process.ts");

function red(proofs: readonly LimitProof[]): readonly string[] {
  return proofs.filter(({ holds }) => !holds).map(({ name }) => name);
}

test("X-6: every limit holds", async () => {
  expect(red(await proveLimits(new InProcessRunner()))).toEqual([]);
});

const off: readonly (readonly [canary: string, switches: ProofSwitches])[] = [
  ["spin", { limits: { timeMs: slow } }],
  ["memory", { limits: { memoryPages: 16_384 } }],
  ["output", { limits: { outputBytes: 16 * 1024 * 1024 } }],
  ["input", { limits: { inputBytes: 16 * 1024 * 1024 } }],
  ["log", { limits: { logLines: 1_000_000, logBytes: 16 * 1024 * 1024 } }],
  ["imports", { limits: { importCalls: 1_000_000 } }],
  ["capability", { granted: ["log", "leases"] }],
];

test.each(off)("X-6: a limit that is switched off is red: %s", async (canary, switches) => {
  const [proof, ...others] = await proveLimits(new InProcessRunner(), { ...switches, names: [canary] });
  expect(others).toEqual([]);
  expect(proof).toMatchObject({ name: canary, holds: false, ended: "OK" });
});

test("X-6: a limit that is switched off is red: recursion, on a stack without a bound", async () => {
  const code = `
    const { parentPort } = require("node:worker_threads");
    Promise.all([import(${JSON.stringify(imports)}), import(${JSON.stringify(runner)})])
      .then(([{ proveLimits }, { InProcessRunner }]) => proveLimits(new InProcessRunner(), { names: ["recursion"] }))
      .then((proofs) => parentPort.postMessage(proofs));`;
  // The limit is V8's stack, which only a thread can have of another size.
  const worker = new Worker(code, { eval: true, resourceLimits: { stackSizeMb: 512 } });
  try {
    const [proofs] = await once(worker, "message");
    expect(proofs).toEqual([expect.objectContaining({ name: "recursion", holds: false, ended: "OK" })]);
  } finally {
    await worker.terminate();
  }
});

test("X-6: a component that runs out of time before it reaches the bound of imports proves nothing about that bound", async () => {
  const tooSlow: GuestRunner = {
    call: async () => failed(fault("LIMIT_TIME", "the canary used up its 10000 ms")),
    close: async () => undefined,
  };
  const [spun, imported] = await proveLimits(tooSlow, { names: ["spin", "imports"] });
  expect([spun, imported]).toEqual([
    expect.objectContaining({ name: "spin", holds: true }),
    expect.objectContaining({ name: "imports", holds: false, ended: "LIMIT_TIME" }),
  ]);
});

test("X-6: a sandbox that cannot run a component is red for each limit of a call", async () => {
  const broken: GuestRunner = {
    call: async () => failed(fault("SANDBOX_UNAVAILABLE", "no process")),
    close: async () => undefined,
  };
  const calls = Object.keys(canaryComponents).filter((name) => name !== "capability");
  expect(red(await proveLimits(broken)).toSorted()).toEqual(calls.toSorted());
});

test("the components are generated from their sources (node scripts/canaries.ts)", async () => {
  const text = await canariesText();
  const written = readFileSync(
    new URL("../../../host/node/prove-sandbox/canaries/canary-components.ts", import.meta.url),
    "utf8",
  );
  expect(base64In(written)).toEqual(base64In(text));
});

function base64In(text: string): readonly unknown[] {
  return [...text.matchAll(/"([A-Za-z0-9+/=]{40,})"/g)].map(([, value]) => value);
}
