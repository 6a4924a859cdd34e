// The released versions of the ABI for the guest kit: text, model, docs, capabilities.

import { readFileSync } from "node:fs";
import type { WitModel } from "../../../wit/model.ts";
import type { Bindings } from "../../../wit/codegen/guest/bindings.ts";
import { delegateBindings, delegateWorld } from "../../../wit/codegen/guest/delegate-bindings.ts";
import { contractPath, modelPath, releasesIn } from "../../../wit/codegen/releases.ts";
import { witFile } from "./kit-files.ts";

/** The version of the bindings `plexus/abi`. */
export const currentAbi = "1.1.0";

/** A released version of the contract. */
export interface Abi {
  readonly version: string;
  readonly wit: string;
  readonly model: WitModel;
}

/** Reads a released version; null if unknown. */
export function readAbi(version: string): Abi | null {
  if (!/^\d+\.\d+\.\d+$/.test(version)) return null;
  try {
    const wit = readFileSync(witFile(contractPath(version)), "utf8");
    const model: WitModel = JSON.parse(readFileSync(witFile(modelPath(version)), "utf8"));
    return { version, wit, model };
  } catch {
    return null;
  }
}

/** The released versions. */
export function releasedAbis(): readonly string[] {
  return releasesIn(witFile("."));
}

/** The capabilities of a version: the imported interfaces with functions. Null: unknown version. */
export function capabilitiesOf(version: string): string[] | null {
  const model = readAbi(version)?.model;
  if (model === undefined) return null;
  const imports = model.worlds[delegateWorld]?.imports ?? [];
  return imports.filter((iface) => Object.keys(model.interfaces[iface]?.functions ?? {}).length > 0);
}

/** The bindings of a version: `plexus/abi/…` and the entry around `assembly/index.ts`. */
export function bindingsOf(abi: Abi): Bindings {
  return delegateBindings(abi.model, abi.wit);
}

/** The texts of `plexus/abi/…`, by the path at which the compiler looks for them. */
export function libraryBindings({ files }: Bindings): Map<string, string> {
  return new Map([...files].map(([name, text]) => [`plexus/abi/${name}`, text]));
}
