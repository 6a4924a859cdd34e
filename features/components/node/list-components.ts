// Lists the components of this node's plugin directories: digest, signer, grants, and where each came from.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { grantedCapabilities } from "../../../src/configuration/keys/grant-keys.ts";
import type { WasmConfiguration } from "../../../src/configuration/wasm-configuration.ts";
import { grantsOf } from "../../../src/configuration/definition-policy.ts";
import type { LockedComponent } from "../rules/lock-file.ts";
import { digestOf } from "../registry/artifact-store.ts";
import { Admission } from "../../../host/sandbox/admission/admit.ts";
import { limitsOf, maxLimits } from "../../../host/sandbox/limits.ts";
import { ComponentDemands, demandOn } from "../../../host/sandbox/provenance/component-demands.ts";
import { checkSignature } from "../../../host/sandbox/provenance/signature-check.ts";
import { installedSignatures } from "../../../host/sandbox/provenance/installed-signatures.ts";
import { readComponentBytes } from "./installed-component.ts";

/** One component of the node. */
export interface NodeComponent {
  readonly type: string;
  readonly path: string;
  readonly digest: string;
  /** Name and version of the delegate, as it declares itself; null if it can't be run. */
  readonly delegate: string | null;
  /** Names of the keys of `wasm.keys` that signed it. */
  readonly signers: readonly string[];
  /** Names of the capabilities that the host configuration grants to its type. */
  readonly grants: readonly string[];
  /** The reference from which it was pulled; null if it was not. */
  readonly source: string | null;
  readonly manifestDigest: string | null;
  /** Why no call would run it; null if a call may. */
  readonly problem: string | null;
}

/** The node's components, ordered by directory and name. A file that is no component, or can't be read, has a problem. */
export async function listComponents(
  cniPath: string,
  wasm: WasmConfiguration,
  lock: readonly LockedComponent[],
): Promise<readonly NodeComponent[]> {
  const found: NodeComponent[] = [];
  for (const directory of new Set(cniPath.split(":").filter((each) => each !== ""))) {
    for (const name of namesIn(directory)) {
      const type = name.slice(0, -".wasm".length);
      found.push(await describe(type, join(directory, name), wasm, lock));
    }
  }
  return found;
}

async function describe(
  type: string,
  path: string,
  wasm: WasmConfiguration,
  lock: readonly LockedComponent[],
): Promise<NodeComponent> {
  const limits = limitsOf(wasm.limits);
  const none = {
    type,
    path,
    delegate: null,
    signers: [],
    grants: grantedCapabilities(grantsOf(wasm, type)),
    source: null,
    manifestDigest: null,
  };
  let bytes: Uint8Array | undefined;
  try {
    bytes = readComponentBytes(path, maxLimits.componentBytes);
  } catch (error) {
    return { ...none, digest: "", problem: error instanceof Error ? error.message : String(error) };
  }
  if (bytes === undefined) return { ...none, digest: "", problem: "the file is gone" };
  const digest = digestOf(bytes);
  const locked = lock.find((each) => each.type === type && each.digest === digest);
  const examined = new Admission().examine(bytes, limits, digest);
  const demand = demandOn(wasm, type);
  const signatures = async () => installedSignatures(path);
  const met =
    demand === undefined ? undefined : await new ComponentDemands().check({ name: path, bytes, signatures }, demand, wasm);
  const problem = met?.ok === false ? met.fault.msg : examined.ok ? null : examined.fault.msg;
  return {
    ...none,
    digest,
    delegate: examined.ok ? `${examined.value.declaration.name} ${examined.value.declaration.version}` : null,
    signers: await signersOf(path, digest, wasm.keys),
    source: locked?.source ?? null,
    manifestDigest: locked?.manifestDigest ?? null,
    problem,
  };
}

async function signersOf(path: string, digest: string, keys: WasmConfiguration["keys"]): Promise<readonly string[]> {
  const manifests = installedSignatures(path);
  if (!manifests.ok || manifests.value.every(({ bundles }) => bundles.length === 0)) return [];
  const signers: string[] = [];
  for (const [keyName, key] of Object.entries(keys)) {
    const signed = await checkSignature({ digest, manifests: manifests.value, keyName, key });
    if (signed.ok) signers.push(keyName);
  }
  return signers;
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith(".wasm") && !name.startsWith("."))
      .toSorted();
  } catch {
    return [];
  }
}
