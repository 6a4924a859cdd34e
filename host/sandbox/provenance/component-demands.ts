// Whether a component is one that the configuration demands: by `digest` and `signedBy` of `wasm.grants.TYPE`, otherwise by `wasm.require`.
// Successes are remembered, so that calls of a known component cost no verification.

import type { ComponentDemand, ComponentRequirement } from "../../../src/configuration/keys/component-keys.ts";
import type { WasmConfiguration } from "../../../src/configuration/wasm-configuration.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { SignedManifest } from "../../../src/oci/signatures-file.ts";
import { keyIdentity } from "./key-file.ts";

/** A component as a call found it. */
export interface DemandedComponent {
  /** The name under which its content is remembered (`ComponentFileNames`). */
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Reads the file with the component's signatures. */
  readonly signatures: () => Promise<Result<readonly SignedManifest[]>>;
}

/** A demand of a type's grants, all of which must hold, or of `wasm.require`, where one signature or digest is enough. */
export type Demand = ComponentDemand | ComponentRequirement;

/** The demand on a type's component; undefined if the configuration demands nothing. */
export function demandOn(
  { demands, require, exempt }: Pick<WasmConfiguration, "demands" | "require" | "exempt">,
  type: string,
): Demand | undefined {
  if (Object.hasOwn(demands, type)) return demands[type];
  return exempt.includes(type) ? undefined : require;
}

const maxRemembered = 256;

/** Remembers which contents meet which demands. */
export class ComponentDemands {
  readonly #met = new Set<string>();

  /** Whether content of this name is known to meet the demand. */
  isMet(name: string, demand: Demand, { keys }: Pick<WasmConfiguration, "keys">): boolean {
    return this.#met.has(keyOf(name, demand, keys));
  }

  /**
   * Checks a component against the demand. Faults COMPONENT_DIGEST_DIFFERS, SIGNATURE_MISSING, SIGNATURE_INVALID, SIGNATURE_KEY_UNUSABLE for a
   * demand of the type's grants, COMPONENT_REQUIREMENT_UNMET for `wasm.require`. A refusal is not remembered: the administrator may add the
   * signature at any time.
   */
  async check(
    { name, bytes, signatures }: DemandedComponent,
    demand: Demand,
    { keys }: Pick<WasmConfiguration, "keys">,
  ): Promise<Result<void>> {
    const key = keyOf(name, demand, keys);
    const { hash } = process.getBuiltinModule("node:crypto");
    const digest = `sha256:${hash("sha256", bytes, "hex")}`;
    const met =
      "anyOf" in demand
        ? await checkRequirement(digest, demand, keys, signatures)
        : await checkDemand(digest, demand, keys, signatures);
    if (!met.ok) return met;
    const [oldest] = this.#met;
    if (this.#met.size >= maxRemembered && oldest !== undefined) this.#met.delete(oldest);
    this.#met.add(key);
    return ok(undefined);
  }
}

async function checkDemand(
  digest: string,
  demand: ComponentDemand,
  keys: Readonly<Record<string, string>>,
  signatures: DemandedComponent["signatures"],
): Promise<Result<unknown>> {
  if (demand.digest !== undefined && demand.digest !== digest)
    return failed(
      fault("COMPONENT_DIGEST_DIFFERS", `the component's digest is ${digest}, but its grant demands ${demand.digest}`),
    );
  return demand.signedBy === undefined ? ok(undefined) : checkSigner(digest, demand.signedBy, keys, signatures);
}

async function checkRequirement(
  digest: string,
  { anyOf: { digests, signedBy } }: ComponentRequirement,
  keys: Readonly<Record<string, string>>,
  signatures: DemandedComponent["signatures"],
): Promise<Result<unknown>> {
  if (digests.includes(digest)) return ok(undefined);
  const reasons: string[] = [];
  for (const keyName of signedBy) {
    const signed = await checkSigner(digest, keyName, keys, signatures);
    if (signed.ok) return signed;
    reasons.push(signed.fault.msg);
  }
  const why = reasons.length === 0 ? "" : `, and its signature was refused: ${[...new Set(reasons)].join("; ")}`;
  return failed(fault("COMPONENT_REQUIREMENT_UNMET", `wasm.require does not list the component's digest ${digest}${why}`));
}

async function checkSigner(
  digest: string,
  keyName: string,
  keys: Readonly<Record<string, string>>,
  signatures: DemandedComponent["signatures"],
): Promise<Result<unknown>> {
  const key = Object.hasOwn(keys, keyName) ? keys[keyName] : undefined;
  if (key === undefined)
    return failed(fault("SIGNATURE_KEY_UNUSABLE", `the configuration demands the key "${keyName}", which wasm.keys lacks`));
  const manifests = await signatures();
  if (!manifests.ok) return manifests;
  const { checkSignature } = await import("./signature-check.ts");
  return checkSignature({ digest, manifests: manifests.value, keyName, key });
}

function keyOf(name: string, demand: Demand, keys: Readonly<Record<string, string>>): string {
  const { digests, signedBy } =
    "anyOf" in demand ? demand.anyOf : { digests: demand.digest ?? "", signedBy: [demand.signedBy ?? ""] };
  const identities = signedBy.map((keyName) => {
    const key = Object.hasOwn(keys, keyName) ? keys[keyName] : undefined;
    return key === undefined ? "" : keyIdentity(key);
  });
  return JSON.stringify([name, "anyOf" in demand, digests, signedBy, identities]);
}
