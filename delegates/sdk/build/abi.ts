// The released versions of the ABI for the guest kit: text, model, docs, capabilities.

import { readdirSync, readFileSync } from "node:fs";
import type { WitModel } from "../../../wit/model.ts";
import { docsOf } from "../../../wit/codegen/docs.ts";
import { generate, type Bindings } from "../../../wit/codegen/guest/bindings.ts";
import { witFile } from "./kit-files.ts";

/** The one world that delegates are compiled against. */
export const world = "delegate";

/** The version of the bindings `plexus/abi`. */
export const currentAbi = "1.0.0";

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
    const wit = readFileSync(witFile(`${version}/delegate.wit`), "utf8");
    const model: WitModel = JSON.parse(readFileSync(witFile(`${version}/model.json`), "utf8"));
    return { version, wit, model };
  } catch {
    return null;
  }
}

/** The released versions. */
export function releasedAbis(): string[] {
  const entries = readdirSync(witFile("."), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

/** The capabilities of a version: the imported interfaces with functions. Null: unknown version. */
export function capabilitiesOf(version: string): string[] | null {
  const model = readAbi(version)?.model;
  if (model === undefined) return null;
  const imports = model.worlds[world]?.imports ?? [];
  return imports.filter((iface) => Object.keys(model.interfaces[iface]?.functions ?? {}).length > 0);
}

/** The bindings of a version: `plexus/abi/…` and the entry around `assembly/index.ts`. */
export function bindingsOf(abi: Abi): Bindings {
  return generate({
    model: abi.model,
    world,
    docs: docsOf(abi.wit),
    bindings: "plexus/abi",
    implementation: () => "./assembly/index",
  });
}
