// The record of the peers' suites: what `npm run test:peers -- --record` and `npm run vm -- --record` write.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import {
  peerOutcome,
  type PeerOutcome,
  type PeerSuites,
  peerSuitesPath,
  readPeerSuites,
  withOutcome,
} from "../../../scripts/peer-suites-page.ts";
import { root } from "../compiled.ts";

const file = join(root, peerSuitesPath);
const mark = "plexus: outcome ";

/** The committed outcomes. */
export const recordedOutcomes = (): PeerSuites => readPeerSuites(readFileSync(file, "utf8"));

/** Writes a suite's outcomes into the committed file. */
export function recordOutcome(outcome: PeerOutcome): void {
  writeFileSync(file, `${JSON.stringify(withOutcome(recordedOutcomes(), outcome), undefined, 2)}\n`);
}

/** Prints a suite's outcomes for `recordOutcomes`. */
export function printOutcome(outcome: PeerOutcome): void {
  process.stdout.write(`${mark}${JSON.stringify(outcome)}\n`);
}

/** Writes the outcomes that a run printed. */
export function recordOutcomes(text: string): void {
  for (const line of text.split(/\r?\n/).filter((each) => each.startsWith(mark)))
    recordOutcome(peerOutcome.parse(JSON.parse(line.slice(mark.length))));
}
