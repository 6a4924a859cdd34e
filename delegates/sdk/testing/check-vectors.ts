// Runs all vectors of a delegate as on a node, and reports each.

import type { Limits } from "../../../host/sandbox/limits.ts";
import { answerOnNode } from "./answer-on-node.ts";
import { differences } from "./differences.ts";
import { comparable } from "./run-vectors.ts";
import type { Vector } from "./vector.ts";

/** The outcome of one vector. No lines: the component answered as expected. */
export interface VectorReport {
  readonly name: string;
  readonly about: string;
  /** The reasons of a failure, for the author. */
  readonly lines: readonly string[];
  /** Milliseconds of the call with its preparation. */
  readonly ms: number;
}

/** Runs a vector, and compares the answer with its `.out.json`. `limits`: the node's; default: the default limits. */
export async function checkVector(vector: Vector, component: Uint8Array, limits?: Limits): Promise<VectorReport> {
  const started = performance.now();
  const lines = await linesOf(vector, component, limits).catch((error: unknown) => [
    error instanceof Error ? error.message : String(error),
  ]);
  return { name: vector.name, about: vector.about, lines, ms: performance.now() - started };
}

async function linesOf(vector: Vector, component: Uint8Array, limits: Limits | undefined): Promise<readonly string[]> {
  const expected = vector.answer;
  if (expected === null) {
    return [`vectors/${vector.name}.out.json is missing: plexus-delegate fmt-vectors writes what the delegate answers`];
  }
  const found = differences(expected, comparable(await answerOnNode(vector, component, limits), expected));
  return found.map((line) => `vectors/${vector.name}.out.json: ${line}`);
}
