// What a test of a peer's suite holds, and the record of `npm run test:peers -- --record`.

import { readFileSync, writeFileSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";

import { expect } from "vitest";

import { type PeerSuites, peerSuitesPath, readPeerSuites } from "../../scripts/peer-suites-page.ts";
import { root } from "../lab/compiled.ts";
import type { GoModule } from "../lab/peers/go-modules.ts";
import { type SuiteOutcome, suiteOutcome } from "../lab/peers/known-differences.ts";
import type { Specification } from "../lab/peers/specifications.ts";

const file = join(root, peerSuitesPath);

/**
 * Holds that a suite's specifications have the committed outcomes: no unknown failure, and no difference on purpose that has become a pass. A kernel that
 * can run other specifications has other numbers, so only the unknown failures count there. With `--record` the outcomes are written instead.
 */
export function holdOutcome(suite: string, module: GoModule, specifications: readonly Specification[]): void {
  const { failed, ...outcome } = suiteOutcome(suite, specifications);
  expect(failed).toEqual([]);
  const committed = readPeerSuites(readFileSync(file, "utf8"));
  if (process.env["PLEXUS_PEERS_RECORD"] === "1") return record(committed, suite, module, outcome);
  const expected = committed.suites.find((each) => each.suite === suite);
  const isSameKernel = JSON.stringify(expected?.notHere) === JSON.stringify(outcome.notHere);
  if (expected === undefined || isSameKernel) expect({ ...expected, ...outcome }).toEqual(expected);
}

function record({ suites }: PeerSuites, suite: string, { path, release: version }: GoModule, outcome: SuiteOutcome): void {
  const entry = {
    suite,
    module: path,
    release: version,
    day: new Date().toISOString().slice(0, 10),
    kernel: release().replace(/^(\d+\.\d+).*$/, "$1"),
    ...outcome,
  };
  const others = suites.filter((each) => each.suite !== suite);
  const index = suites.findIndex((each) => each.suite === suite);
  const all = index === -1 ? [...others, entry] : [...others.slice(0, index), entry, ...others.slice(index)];
  writeFileSync(file, `${JSON.stringify({ suites: all }, undefined, 2)}\n`);
}
