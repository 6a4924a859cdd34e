// The ABI versions that this host speaks, each with its glue and model. One so far.

import modelOf010 from "../../../wit/0.1.0/model.json" with { type: "json" };
import type { WitModel } from "../../../wit/model.ts";
import type { ImportGlue, VerbGlue } from "./guest.ts";
import { imports, verbs } from "./generated/delegate-0.1.0.ts";

export interface AbiVersion {
  readonly version: string;
  readonly package: string;
  readonly model: WitModel;
  /** Interfaces that a delegate may import, those without functions included. */
  readonly importable: readonly string[];
  /** The interface that a delegate exports. */
  readonly exported: string;
  readonly imports: Readonly<Record<string, Readonly<Record<string, ImportGlue>>>>;
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

// JSON imports are typed too widely for the model's unions; the generator's test holds the file to the type.
const model010 = modelOf010 as unknown as WitModel;

export const abiVersions: Readonly<Record<string, AbiVersion>> = Object.freeze({
  [model010.version]: version(model010, { imports, verbs }),
});

/** Capabilities of a version: the importable interfaces that have functions. */
export function capabilitiesOf(abi: AbiVersion): readonly string[] {
  return Object.keys(abi.imports);
}
