// Whether a component is the one that `wasm.grants.TYPE` demands by `digest` and `signedBy`. Successes are remembered, so that calls of a known
// component cost no verification.

import type { ComponentDemand, WasmConfiguration } from "../../../src/configuration/wasm-configuration.ts";
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

/** The demand on a type's component; undefined if the configuration demands nothing. */
export function demandOn({ demands }: Pick<WasmConfiguration, "demands">, type: string): ComponentDemand | undefined {
  return Object.hasOwn(demands, type) ? demands[type] : undefined;
}

const maxRemembered = 256;

/** Remembers which contents meet which demands. */
export class ComponentDemands {
  readonly #met = new Set<string>();

  /** Whether content of this name is known to meet the demand. */
  isMet(name: string, demand: ComponentDemand, { keys }: Pick<WasmConfiguration, "keys">): boolean {
    return this.#met.has(keyOf(name, demand, keys));
  }

  /**
   * Checks a component against the demand. Faults COMPONENT_DIGEST_DIFFERS, SIGNATURE_MISSING, SIGNATURE_INVALID, SIGNATURE_KEY_UNUSABLE. A
   * refusal is not remembered: the administrator may add the signature at any time.
   */
  async check(
    { name, bytes, signatures }: DemandedComponent,
    demand: ComponentDemand,
    { keys }: Pick<WasmConfiguration, "keys">,
  ): Promise<Result<void>> {
    const key = keyOf(name, demand, keys);
    const { hash } = process.getBuiltinModule("node:crypto");
    const digest = `sha256:${hash("sha256", bytes, "hex")}`;
    if (demand.digest !== undefined && demand.digest !== digest)
      return failed(
        fault("COMPONENT_DIGEST_DIFFERS", `the component's digest is ${digest}, but its grant demands ${demand.digest}`),
      );
    const signed = demand.signedBy === undefined ? ok(undefined) : await checkSigner(digest, demand.signedBy, keys, signatures);
    if (!signed.ok) return signed;
    const [oldest] = this.#met;
    if (this.#met.size >= maxRemembered && oldest !== undefined) this.#met.delete(oldest);
    this.#met.add(key);
    return ok(undefined);
  }
}

async function checkSigner(
  digest: string,
  keyName: string,
  keys: Readonly<Record<string, string>>,
  signatures: DemandedComponent["signatures"],
): Promise<Result<unknown>> {
  const key = Object.hasOwn(keys, keyName) ? keys[keyName] : undefined;
  if (key === undefined)
    return failed(fault("SIGNATURE_KEY_UNUSABLE", `the grant demands the key "${keyName}", which wasm.keys lacks`));
  const manifests = await signatures();
  if (!manifests.ok) return manifests;
  const { checkSignature } = await import("./signature-check.ts");
  return checkSignature({ digest, manifests: manifests.value, keyName, key });
}

function keyOf(name: string, { digest = "", signedBy = "" }: ComponentDemand, keys: Readonly<Record<string, string>>): string {
  const key = Object.hasOwn(keys, signedBy) ? keys[signedBy] : undefined;
  return JSON.stringify([name, digest, signedBy, key === undefined ? "" : keyIdentity(key)]);
}
