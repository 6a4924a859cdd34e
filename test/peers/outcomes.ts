// The outcomes of a peer's suite beside the committed ones, and the record of `npm run test:peers -- --record`.

import { release } from "node:os";

import type { PeerOutcome } from "../../scripts/peer-suites-page.ts";
import type { GoModule } from "../lab/peers/go-modules.ts";
import { suiteOutcome } from "../lab/peers/known-differences.ts";
import { printOutcome, recordOutcome, recordedOutcomes } from "../lab/peers/record.ts";
import type { Specification } from "../lab/peers/specifications.ts";

/** The outcomes that a test compares. */
export interface Judged {
  /** Titles and messages of the specifications that fail without a known reason. */
  readonly failed: readonly string[];
  readonly found: PeerOutcome;
  /** The committed outcomes: a difference on purpose that has become a pass differs from them. */
  readonly expected: PeerOutcome | undefined;
}

/**
 * Judges a suite's specifications. With `--record` the outcomes become the expected ones. A kernel that can run other specifications has other numbers,
 * which are printed. `npm run vm -- --record` lets all be printed.
 */
export function judged(suite: string, module: GoModule, specifications: readonly Specification[]): Judged {
  const { failed, ...counts } = suiteOutcome(suite, specifications);
  const today = { day: new Date().toISOString().slice(0, 10), kernel: release().replace(/^(\d+\.\d+).*$/, "$1") };
  const outcome: PeerOutcome = { suite, module: module.path, release: module.release, ...today, ...counts };
  if (process.env["PLEXUS_PEERS_RECORD"] === "1" && failed.length === 0) recordOutcome(outcome);
  if (process.env["PLEXUS_PEERS_RECORD"] === "print") {
    if (failed.length === 0) printOutcome(outcome);
    return { failed, found: outcome, expected: outcome };
  }
  const committed = recordedOutcomes().suites.find((each) => each.suite === suite);
  if (committed !== undefined && JSON.stringify(committed.notHere) !== JSON.stringify(outcome.notHere)) {
    if (failed.length === 0) printOutcome(outcome);
    return { failed, found: outcome, expected: outcome };
  }
  const { day = "", kernel = "" } = committed ?? {};
  return { failed, found: { ...outcome, day, kernel }, expected: committed };
}
