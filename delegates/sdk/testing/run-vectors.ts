// Runs vectors in any host: the sandbox in a delegate's own tests, the oracle in addition in the kit's tests.

import { callOf, plugins, printedResult, versionOf } from "./vector-call.ts";
import { MemoryFirewall } from "./memory-firewall.ts";
import { MemoryLeases } from "./memory-leases.ts";
import { MemoryLinks } from "./memory-links.ts";
import { MemoryState } from "./memory-state.ts";
import { MemorySysctl } from "./memory-sysctl.ts";
import type { CapabilityFunctions, RunDelegate } from "./records.ts";
import { ScriptedDelegation } from "./scripted-delegation.ts";
import type { Vector, VectorAnswer } from "./vector.ts";

/** A component's answer to a vector, in the form of `.out.json`, with its log. Rejects when the guest traps. */
export async function answerOf(vector: Vector, component: Uint8Array, run: RunDelegate): Promise<VectorAnswer> {
  const leases = new MemoryLeases(vector.leases);
  const links = new MemoryLinks(vector.links);
  const delegation = new ScriptedDelegation(plugins(vector));
  const sysctl = new MemorySysctl(vector.sysctl);
  const state = new MemoryState(vector.state);
  const announced: (readonly string[])[] = [];
  const call = callOf(vector);
  const firewall = new MemoryFirewall(vector.firewall, "attachment" in call.request ? call.request.attachment : undefined);
  const log: string[] = [];
  const capabilities: CapabilityFunctions = {
    log: { write: (level, message) => void log.push(`${level}: ${message}`) },
    leases: leases.functions,
    resolver: {
      read: (path) => {
        const found = vector.resolver[path];
        return found === undefined ? { err: { code: 7, msg: `${path} is not allowed` } } : { ok: found };
      },
    },
    links: links.functions,
    delegation: delegation.functions,
    sysctl: sysctl.functions,
    state: state.functions,
    announce: {
      send: (addresses) => {
        announced.push(addresses);
        return { ok: undefined };
      },
    },
    firewall: firewall.functions,
  };
  const outcome = await run(component, call, capabilities).catch((error: unknown) => {
    // The log before the trap, such as an abort's message and place.
    const logText = log.length === 0 ? "" : `\n  it logged: ${log.join("\n             ")}`;
    throw new Error(`${error instanceof Error ? error.message : String(error)}${logText}`, { cause: error });
  });
  const answer: VectorAnswer = {};
  if ("err" in outcome) {
    const { code, msg, details } = outcome.err;
    answer.error = details === undefined ? { code, msg } : { code, msg, details };
  } else if (outcome.ok !== undefined) answer.result = printedResult(outcome.ok, versionOf(vector));
  if (vector.leases !== undefined) answer.leases = leases.state();
  // As JSON, because hosts differ between undefined and absent members.
  if (vector.links !== undefined) answer.applied = JSON.parse(JSON.stringify(links.applied()));
  if (vector.plugins !== undefined) answer.called = JSON.parse(JSON.stringify(delegation.called()));
  if (vector.sysctl !== undefined) answer.sysctl = sysctl.values();
  if (vector.state !== undefined) answer.state = state.current();
  if (vector.announce !== undefined) answer.announced = announced.map((addresses) => [...addresses]);
  if (vector.firewall !== undefined) answer.firewall = JSON.parse(JSON.stringify(firewall.rules()));
  if (vector.firewall?.guards !== undefined) answer.guards = firewall.guards();
  answer.log = log;
  return answer;
}

/** The part of an answer that a vector's `.out.json` covers: the log only if the file has one. */
export function comparable(answer: VectorAnswer, expected: VectorAnswer): VectorAnswer {
  const { log, ...rest } = answer;
  return expected.log === undefined ? rest : { ...rest, log };
}
