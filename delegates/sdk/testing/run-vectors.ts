// Runs vectors through any host: the oracle in a delegate's own tests, the sandbox in its tests, and both side by side.

import { callOf, printedResult, versionOf } from "./vector-call.ts";
import { MemoryLeases } from "./memory-leases.ts";
import type { RunDelegate } from "./records.ts";
import type { Vector, VectorAnswer } from "./vector.ts";

/** What a component answers to a vector, in the form of `.out.json`, log included. Rejects when the guest traps. */
export async function answerOf(vector: Vector, component: Uint8Array, run: RunDelegate): Promise<VectorAnswer> {
  const leases = new MemoryLeases(vector.leases);
  const log: string[] = [];
  const outcome = await run(component, callOf(vector), {
    log: { write: (level, message) => void log.push(`${level}: ${message}`) },
    leases: leases.functions,
    resolver: {
      read: (path) => {
        const found = vector.resolver[path];
        return found === undefined ? { err: { code: 7, msg: `${path} is not allowed` } } : { ok: found };
      },
    },
  });
  const answer: VectorAnswer = {};
  if ("err" in outcome) {
    const { code, msg, details } = outcome.err;
    answer.error = details === undefined ? { code, msg } : { code, msg, details };
  } else if (outcome.ok !== undefined) answer.result = printedResult(outcome.ok, versionOf(vector));
  if (vector.leases !== undefined) answer.leases = leases.state();
  answer.log = log;
  return answer;
}

/** What of an answer a vector's `.out.json` speaks of: the log only where it has one. */
export function comparable(answer: VectorAnswer, expected: VectorAnswer): VectorAnswer {
  const { log, ...rest } = answer;
  return expected.log === undefined ? rest : { ...rest, log };
}
