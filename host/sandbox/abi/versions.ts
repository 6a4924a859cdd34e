// The supported ABI versions, each with its glue and model.

import modelOf010 from "../../../wit/0.1.0/model.json" with { type: "json" };
import modelOf100 from "../../../wit/1.0.0/model.json" with { type: "json" };
import type { WitModel } from "../../../wit/model.ts";
import type { ImportGlue, VerbGlue } from "./guest.ts";
import { verbs as verbs010 } from "./generated/delegate-0.1.0.ts";
import { imports, verbs as verbs100, type StatusRequest } from "./generated/delegate-1.0.0.ts";

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
  /** Whether a request names the granted capabilities. Only then may a capability be optional. */
  readonly namesGrants: boolean;
}

function version(model: WitModel, glue: Pick<AbiVersion, "imports" | "verbs" | "namesGrants">): AbiVersion {
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
const model010 = modelOf010 as unknown as WitModel;
const model100 = modelOf100 as unknown as WitModel;

/** STATUS of 0.1.0 takes the network alone. */
const status010: VerbGlue = {
  ...verbs010.status,
  lower: (guest, request: StatusRequest) => verbs010.status.lower(guest, request.network),
};

// 1.0.0 has all capabilities of 0.1.0 unchanged, which a test holds; its further functions are in the model of 1.0.0 alone, so that admission refuses
// them in a component of 0.1.0. One glue for both halves the code that a one-shot engine loads.

/** The supported ABI versions by version number. */
export const abiVersions: Readonly<Record<string, AbiVersion>> = Object.freeze({
  [model010.version]: version(model010, { imports, verbs: { ...verbs010, status: status010 }, namesGrants: false }),
  [model100.version]: version(model100, { imports, verbs: verbs100, namesGrants: true }),
});

/** The capabilities of an ABI version: the importable interfaces with functions. */
export function capabilitiesOf(abi: AbiVersion): readonly string[] {
  return Object.keys(abi.imports).filter((name) => abi.importable.includes(name));
}
