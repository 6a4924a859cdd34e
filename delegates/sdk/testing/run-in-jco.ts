// Runs a delegate's call through jco's translation.

import { isOracleError, oracleError, translate, type OracleImports } from "./jco-oracle.ts";
import { plainValue } from "./plain-value.ts";
import type { CapabilityFunctions, FaultRecord, Outcome, RunDelegate, SuccessRecord } from "./records.ts";

/** Runs a delegate in the oracle; see jco-oracle.ts for its limits. */
export const runInJco: RunDelegate = async (component, { verb, request }, capabilities) => {
  const instantiate = await translate(component);
  const { plugin } = instantiate(oracleImports(capabilities));
  const call = plugin?.[verb];
  if (call === undefined) throw new Error(`the component has no ${verb}`);
  try {
    return { ok: call(request) as SuccessRecord | undefined };
  } catch (thrown) {
    if (isOracleError(thrown)) return { err: thrown.payload as FaultRecord };
    throw thrown;
  }
};

/** The capabilities in the form of the translation. */
function oracleImports({ log, ...others }: CapabilityFunctions): OracleImports {
  const throwers = Object.entries(others).map(([capability, functions]) => [
    `cni:delegate/${capability}`,
    Object.fromEntries(Object.entries<Act>({ ...functions }).map(([name, act]) => [name, throwing(act)])),
  ]);
  return { "cni:delegate/types": {}, "cni:delegate/log": { write: log.write }, ...Object.fromEntries(throwers) };
}

type Act = (...args: never[]) => Outcome<unknown>;

/** A function that throws its result's error. */
function throwing(act: Act): (...args: never[]) => unknown {
  return (...args) => {
    const outcome = act(...args.map(plainValue));
    if ("err" in outcome) throw oracleError(outcome.err);
    return outcome.ok;
  };
}
