// Binds the capability `delegation` to one call: other plugins, of the types that the administrator lists, for the call's own verb and
// attachment. What a delegate asks beyond that is refused here, before anything is run.

import type { ChainStep, StepOutcome } from "../../src/cni/chain-step.ts";
import { delegatedAdd, delegatedVerb } from "../../src/cni/delegation.ts";
import type { Verb } from "../../src/cni/environment.ts";
import { matchesPattern } from "../../src/configuration/grant-patterns.ts";
import { notGranted } from "../../src/configuration/not-granted.ts";
import { type Fault, fault } from "../../src/fault/fault.ts";
import { quote } from "../../src/json/quote.ts";
import { runChain } from "../brain/run-chain.ts";
import { toSuccess } from "../brain/delegate-request.ts";
import type { DelegationCapability, Fault as WitFault, Success } from "../sandbox/abi/generated/delegate-0.1.0.ts";
import type { Outcome } from "../sandbox/abi/guest.ts";
import { endless } from "./callers.ts";

export interface DelegationScope {
  /** The delegate's own step. */
  readonly step: ChainStep;
  /** Types that may be called, as the grant has them. */
  readonly plugins: readonly string[];
  /** The types that called one another up to here, the delegate's own last. */
  readonly callers: readonly string[];
  /** Runs a step like any other, within the time that the delegate has. */
  readonly run: (step: ChainStep) => Promise<StepOutcome>;
}

type Answered<T> = Promise<Outcome<T, WitFault>>;

/** The capability, its answers when the plugins have ended. */
export type DelegationImports = {
  readonly [F in keyof DelegationCapability]: DelegationCapability[F] extends (...args: infer A) => Outcome<infer T, WitFault>
    ? (...args: A) => Answered<T>
    : never;
};

/** What each verb of the call may have done by others (the WIT's rule): an ADD may have to take back what it began. */
const allowed: Readonly<Record<Verb, readonly Verb[]>> = {
  ADD: ["ADD", "DEL"],
  DEL: ["DEL"],
  CHECK: ["CHECK"],
  GC: ["GC"],
  STATUS: ["STATUS"],
  VERSION: [],
};

/** The capability as the delegate of this one call gets it. */
export function delegationFor(scope: DelegationScope): DelegationImports {
  const other =
    (verb: Exclude<Verb, "ADD" | "VERSION">) =>
    async (type: string, config: string | undefined): Answered<undefined> => {
      const denied = whyNot(scope, verb, type);
      if (denied !== undefined) return refuse(denied);
      const ended = await runChain(delegatedVerb(scope.step, verb, { type, config }), scope.run);
      return ended.ok ? { ok: undefined } : refuse(ended.fault);
    };
  return {
    async add(type, config): Answered<Success> {
      const denied = whyNot(scope, "ADD", type);
      if (denied !== undefined) return refuse(denied);
      const ended = await runChain(delegatedAdd(scope.step, { type, config }), scope.run);
      return ended.ok ? { ok: toSuccess(ended.value.result) } : refuse(ended.fault);
    },
    del: other("DEL"),
    check: other("CHECK"),
    gc: other("GC"),
    status: other("STATUS"),
  };
}

function whyNot({ step, plugins, callers }: DelegationScope, verb: Verb, type: string): Fault | undefined {
  if (!allowed[step.verb].includes(verb)) {
    const what = `delegation: ${verb} of plugin ${quote(type, 64)} within ${step.verb}: only ${allowed[step.verb].join(" and ")} may be called there`;
    return fault("CAPABILITY_MISUSED", what);
  }
  if (!plugins.some((pattern) => matchesPattern(pattern, type))) {
    const asked = `delegation: ${verb} of plugin ${quote(type, 64)}`;
    return notGranted({ type: step.plugin.type, key: "delegation.plugins", asked, granted: plugins });
  }
  return endless(callers, type);
}

function refuse(why: Fault): { readonly err: WitFault } {
  return { err: { code: why.code, msg: why.msg, details: why.details } };
}
