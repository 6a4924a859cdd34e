// What a test of a peer's suite holds, and the record of `npm run test:peers -- --record`.

import { readFileSync, writeFileSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";

import { expect } from "vitest";

import { type PeerOutcome, peerSuitesPath, readPeerSuites, withOutcome } from "../../scripts/peer-suites-page.ts";
import { root } from "../lab/compiled.ts";
import type { GoModule } from "../lab/peers/go-modules.ts";
import { suiteOutcome } from "../lab/peers/known-differences.ts";
import type { Specification } from "../lab/peers/specifications.ts";

const file = join(root, peerSuitesPath);

/**
 * Holds that a suite's specifications have the committed outcomes: no unknown failure, and no difference on purpose that has become a pass. A kernel that
 * can run other specifications has other numbers, so only the unknown failures count there. With `--record` the outcomes are written instead.
 */
export function holdOutcome(suite: string, module: GoModule, specifications: readonly Specification[]): void {
  const { failed, ...counts } = suiteOutcome(suite, specifications);
  expect(failed).toEqual([]);
  const outcome: PeerOutcome = {
    suite,
    module: module.path,
    release: module.release,
    day: new Date().toISOString().slice(0, 10),
    kernel: release().replace(/^(\d+\.\d+).*$/, "$1"),
    ...counts,
  };
  const committed = readPeerSuites(readFileSync(file, "utf8"));
  if (process.env["PLEXUS_PEERS_RECORD"] === "1") {
    writeFileSync(file, `${JSON.stringify(withOutcome(committed, outcome), undefined, 2)}\n`);
    return;
  }
  const expected = committed.suites.find((each) => each.suite === suite);
  if (JSON.stringify(expected?.notHere) === JSON.stringify(outcome.notHere)) expect({ ...expected, ...counts }).toEqual(expected);
  // `npm run vm -- --record` reads the line, because the machine's files are lost with it.
  else process.stdout.write(`plexus: outcome ${JSON.stringify(outcome)}\n`);
}
