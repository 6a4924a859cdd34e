// The supported ABI versions, each with its glue and model.

import modelOf100 from "../../../wit/1.0.0/generated/model.json" with { type: "json" };
import modelOf110 from "../../../wit/1.1.0/generated/model.json" with { type: "json" };
import type { WitModel } from "../../../wit/model.ts";
import type { ImportGlue, VerbGlue } from "./guest.ts";
import * as glueOf100 from "./generated/delegate-1.0.0.ts";
import * as glueOf110 from "./generated/delegate-1.1.0.ts";

/** One ABI version. */
export interface AbiVersion {
  readonly version: string;
  readonly package: string;
  readonly model: WitModel;
  /** Interfaces that a delegate may import, including those without functions. */
  readonly importable: readonly string[];
  /** The interface that a delegate exports. */
  readonly exported: string;
  /** The glue of each function that a delegate may import, by interface and function. */
  readonly imports: Readonly<Record<string, Readonly<Record<string, ImportGlue>>>>;
  /** Each verb takes a request of the newest version. The glue of an older version lowers the members that this version has. */
  readonly verbs: Readonly<Record<string, VerbGlue>>;
}

// TypeScript types the JSON imports too widely for the model's unions. The generator's test checks the files.
function version(generated: unknown, { imports, verbs }: Pick<AbiVersion, "imports" | "verbs">): AbiVersion {
  const model = generated as WitModel;
  const world = model.worlds["delegate"];
  return {
    version: model.version,
    package: model.package,
    model,
    importable: world?.imports ?? [],
    exported: world?.exports[0] ?? "",
    imports,
    verbs,
  };
}

const versions: readonly AbiVersion[] = [version(modelOf100, glueOf100), version(modelOf110, glueOf110)];

/** The supported ABI versions by version number. */
export const abiVersions: Readonly<Record<string, AbiVersion>> = Object.freeze(
  Object.fromEntries(versions.map((abi) => [abi.version, abi])),
);

/** The capabilities of an ABI version: the importable interfaces with functions. */
export function capabilitiesOf(abi: AbiVersion): readonly string[] {
  return Object.keys(abi.imports).filter((name) => abi.importable.includes(name));
}
