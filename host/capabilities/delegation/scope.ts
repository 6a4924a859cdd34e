// Binds the capability `delegation` to one call: the delegate may call plugins of the granted types, with the call's own verb and
// attachment. Any other request is refused here, before a plugin runs.

import type { ChainStep, StepOutcome } from "../../../src/cni/chain-step.ts";
import { delegatedAdd, delegatedVerb } from "../../../src/cni/delegation.ts";
import type { Verb } from "../../../src/cni/environment.ts";
import { matchesPattern } from "../../../src/configuration/grant-patterns.ts";
import { notGranted } from "../../../src/configuration/not-granted.ts";
import type { Fault } from "../../../src/fault/fault.ts";
import { quote } from "../../../src/json/quote.ts";
import { runChain } from "../../../src/cni/chains.ts";
import { toSuccess } from "../../sandbox/abi/success-record.ts";
import type { DelegationCapability, Success } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { type Deferred, misuseOf, refuse, type WitOutcome } from "../outcome.ts";
import { callDepthFault } from "./callers.ts";

/** The call that the capability is bound to, and its grant. */
export interface DelegationScope {
  /** The delegate's own step. */
  readonly step: ChainStep;
  /** The granted patterns of plugin types. */
  readonly plugins: readonly string[];
  /** The types that called one another, the outermost first and the delegate's own type last. */
  readonly callers: readonly string[];
  /** Runs a step within the delegate's remaining time. */
  readonly run: (step: ChainStep) => Promise<StepOutcome>;
}

type Answer<T> = Promise<WitOutcome<T>>;

/** The capability's functions. Each answers when the plugin has ended. */
export type DelegationImports = Deferred<DelegationCapability>;

const misused = misuseOf("delegation");

/** The verbs that a delegate may call within each verb (a rule of the WIT). An ADD may call DEL to undo its own ADD of a plugin. */
const allowed: Readonly<Record<Verb, readonly Verb[]>> = {
  ADD: ["ADD", "DEL"],
  DEL: ["DEL"],
  CHECK: ["CHECK"],
  GC: ["GC"],
  STATUS: ["STATUS"],
  VERSION: [],
};

/** The capability for the delegate of one call. */
export function delegationFor(scope: DelegationScope): DelegationImports {
  const functionFor =
    (verb: Exclude<Verb, "ADD" | "VERSION">) =>
    async (type: string, config: string | undefined): Answer<undefined> => {
      const denied = denialOf(scope, verb, type);
      if (denied !== undefined) return refuse(denied);
      const ended = await runChain(delegatedVerb(scope.step, verb, { type, config }), scope.run);
      return ended.ok ? { ok: undefined } : refuse(ended.fault);
    };
  return {
    async add(type, config): Answer<Success> {
      const denied = denialOf(scope, "ADD", type);
      if (denied !== undefined) return refuse(denied);
      const ended = await runChain(delegatedAdd(scope.step, { type, config }), scope.run);
      return ended.ok ? { ok: toSuccess(ended.value.result) } : refuse(ended.fault);
    },
    del: functionFor("DEL"),
    check: functionFor("CHECK"),
    gc: functionFor("GC"),
    status: functionFor("STATUS"),
  };
}

/** The fault of a call that is not allowed; undefined if it is allowed. */
function denialOf({ step, plugins, callers }: DelegationScope, verb: Verb, type: string): Fault | undefined {
  if (!allowed[step.verb].includes(verb)) {
    const verbs = allowed[step.verb].join(" and ");
    return misused(`${verb} of plugin ${quote(type, 64)} within ${step.verb}: a delegate may call only ${verbs} there`);
  }
  if (!plugins.some((pattern) => matchesPattern(pattern, type))) {
    const request = `delegation: ${verb} of plugin ${quote(type, 64)}`;
    return notGranted({ type: step.plugin.type, key: "delegation.plugins", request, granted: plugins });
  }
  return callDepthFault(callers, type);
}
