// Runs vectors in any host: the sandbox in a delegate's own tests, the oracle in addition in the kit's tests.

import { logExcerpt } from "./log-excerpt.ts";
import { printedResult, versionOf } from "./vector-call.ts";
import type { RunDelegate } from "./records.ts";
import { simulatedNode } from "./simulated-node.ts";
import type { Vector, VectorAnswer } from "./vector.ts";

/** A component's answer to a vector, in the form of `.out.json`, with its log. Rejects when the guest traps. */
export async function answerOf(vector: Vector, component: Uint8Array, run: RunDelegate): Promise<VectorAnswer> {
  const { call, capabilities, log, state } = simulatedNode(vector);
  const outcome = await run(component, call, capabilities).catch((error: unknown) => {
    // The log before the trap, such as an abort's message and place.
    const excerpt = logExcerpt(log, "plexus-delegate run COMPONENT VERB --log=FILE writes the whole log");
    const logText = log.length === 0 ? "" : `\n  it logged: ${excerpt.join("\n             ")}`;
    throw new Error(`${error instanceof Error ? error.message : String(error)}${logText}`, { cause: error });
  });
  const answer: VectorAnswer = {};
  if ("err" in outcome) {
    const { code, msg, details } = outcome.err;
    answer.error = details === undefined ? { code, msg } : { code, msg, details };
  } else if (outcome.ok !== undefined) answer.result = printedResult(outcome.ok, versionOf(vector));
  return { ...answer, ...state(), log: [...log] };
}

/** The part of an answer that a vector's `.out.json` covers: the log only if the file has one. */
export function comparable(answer: VectorAnswer, expected: VectorAnswer): VectorAnswer {
  const { log, ...rest } = answer;
  return expected.log === undefined ? rest : { ...rest, log };
}
