// The supported ABI versions, each with its glue and model.

import modelOf100 from "../../../wit/1.0.0/generated/model.json" with { type: "json" };
import type { WitModel } from "../../../wit/model.ts";
import type { ImportGlue, VerbGlue } from "./guest.ts";
import { imports, verbs } from "./generated/delegate-1.0.0.ts";

/** One ABI version. */
export interface AbiVersion {
  readonly version: string;
  readonly package: string;
  readonly model: WitModel;
  /** Interfaces that a delegate may import, including those without functions. */
  readonly importable: readonly string[];
  /** The interface that a delegate exports. */
  readonly exported: string;
  readonly imports: Readonly<Record<string, Readonly<Record<string, ImportGlue>>>>;
  /** They take the requests of the newest version: an older version lowers the members that it has. */
  readonly verbs: Readonly<Record<string, VerbGlue>>;
}

function version(model: WitModel, glue: Pick<AbiVersion, "imports" | "verbs">): AbiVersion {
  const world = model.worlds["delegate"];
  return {
    version: model.version,
    package: model.package,
    model,
    importable: world?.imports ?? [],
    exported: world?.exports[0] ?? "",
    ...glue,
  };
}

// TypeScript types the JSON imports too widely for the model's unions. The generator's test checks the files.
const model100 = modelOf100 as unknown as WitModel;

/** The supported ABI versions by version number. */
export const abiVersions: Readonly<Record<string, AbiVersion>> = Object.freeze({
  [model100.version]: version(model100, { imports, verbs }),
});

/** The capabilities of an ABI version: the importable interfaces with functions. */
export function capabilitiesOf(abi: AbiVersion): readonly string[] {
  return Object.keys(abi.imports).filter((name) => abi.importable.includes(name));
}
