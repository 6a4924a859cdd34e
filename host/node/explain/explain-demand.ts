// Explains what `wasm.grants.TYPE` or `wasm.require` demands of a component's digest and signer, and whether the installed component meets it.

import { readFileSync } from "node:fs";
import type { ComponentRequirement } from "../../../src/configuration/keys/component-keys.ts";
import type { WasmConfiguration } from "../../../src/configuration/wasm-configuration.ts";
import type { Fault } from "../../../src/fault/fault.ts";
import { ComponentDemands, demandOn } from "../../sandbox/provenance/component-demands.ts";
import { installedSignatures } from "../../sandbox/provenance/installed-signatures.ts";

/** The demand on a component. */
export interface ExplainedDemand {
  readonly digest: string | null;
  readonly signedBy: string | null;
  /** The lists of `wasm.require`, of which one entry is enough; null if the type's grants demand something. */
  readonly anyOf: ComponentRequirement["anyOf"] | null;
  readonly isMet: boolean;
}

/** The demand on the component of this type, and the fault of a call if it is not met; undefined if nothing is demanded. */
export async function explainDemand(
  type: string,
  path: string,
  wasm: WasmConfiguration,
): Promise<{ readonly demand: ExplainedDemand; readonly refusal: Fault | undefined } | undefined> {
  const demand = demandOn(wasm, type);
  if (demand === undefined) return undefined;
  const component = { name: path, bytes: readFileSync(path), signatures: async () => installedSignatures(path) };
  const met = await new ComponentDemands().check(component, demand, wasm);
  const { digest = null, signedBy = null } = "anyOf" in demand ? {} : demand;
  const anyOf = "anyOf" in demand ? demand.anyOf : null;
  return { demand: { digest, signedBy, anyOf, isMet: met.ok }, refusal: met.ok ? undefined : met.fault };
}
