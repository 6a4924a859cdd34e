// A delegate's answer to a vector on a node: in Plexus' sandbox, within limits, and checked by the rules for plugins'
// answers.

import { quote } from "../../../src/json/quote.ts";
import { readResult } from "../../../src/cni/read-result.ts";
import { defaultLimits, type Limits } from "../../../host/sandbox/limits.ts";
import { runWithin } from "./run-in-sandbox.ts";
import { answerOf } from "./run-vectors.ts";
import { versionOf } from "./vector-call.ts";
import { remedyOf } from "./verdict-remedy.ts";
import type { Vector, VectorAnswer } from "./vector.ts";

/** `limits`: the node's; default: the default limits. Rejects with an Error that names the vector if the delegate traps or exceeds a limit, or if a node would refuse its answer. */
export async function answerOnNode(vector: Vector, component: Uint8Array, limits: Limits = defaultLimits): Promise<VectorAnswer> {
  let answer: VectorAnswer;
  try {
    answer = await answerOf(vector, component, runWithin(limits));
  } catch (error) {
    const verdict = error instanceof Error ? error.message : String(error);
    const remedy = remedyOf(verdict);
    const todo = remedy === undefined ? "" : `\n  Remedy: ${remedy}`;
    throw new Error(`vector ${vector.name}: ${verdict}${todo}`, { cause: error });
  }
  const why = refusalOf(vector, answer);
  if (why !== undefined) throw new Error(`vector ${vector.name}: a node refuses this answer: ${why}`);
  return answer;
}

function refusalOf(vector: Vector, { result, error }: VectorAnswer): string | undefined {
  if (error?.code === 0) return `an error's code is not 0 (its message: ${quote(error.msg, 200)})`;
  if (result === undefined) return undefined;
  const read = readResult(JSON.stringify(result), versionOf(vector));
  return read.ok ? undefined : read.fault.msg;
}
