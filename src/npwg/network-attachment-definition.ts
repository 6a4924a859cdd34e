// The NetworkAttachmentDefinition object (NPWG 3.2), read from the API or a manifest.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { describeJson, isJsonObject } from "../json/document.ts";
import { quote } from "../json/quote.ts";
import { readObjectMeta } from "./object-meta.ts";
import { labelProblem } from "./object-names.ts";

/** The fields of a NetworkAttachmentDefinition that Plexus reads. */
export interface NetworkAttachmentDefinition {
  readonly namespace: string;
  readonly name: string;
  readonly annotations: ReadonlyMap<string, string>;
  /** `spec.config`: JSON of a configuration or a list. Absent: a configuration on disk with the object's name (3.4.1). */
  readonly config?: string;
}

/** Maximum length of `spec.config` in UTF-16 units: the API's limit for a whole object. */
const maxConfigLength = 1_572_864;

/**
 * Reads the object. `spec` and `spec.config` are optional. An empty `config` counts as absent, because Go's encoders omit empty
 * keys. Unknown keys of the spec are ignored (3.2: "in the absence of valid keys"). Fault NETWORK_INVALID.
 */
export function readNetworkAttachmentDefinition(object: unknown): Result<NetworkAttachmentDefinition> {
  const meta = readObjectMeta(object);
  if (!meta.ok) return invalid(meta.problem);
  const { namespace, name, annotations } = meta.value;
  const problem = labelProblem(name);
  if (problem !== undefined) return invalid(`${quote(name)}: its name ${problem}`);
  const fullName = `${namespace}/${name}`;
  const spec = isJsonObject(object) ? object["spec"] : undefined;
  if (spec === undefined || spec === null) return ok({ namespace, name, annotations });
  if (!isJsonObject(spec)) return invalid(`${fullName}: spec must be an object, but is ${describeJson(spec)}`);
  const config = Object.hasOwn(spec, "config") ? spec["config"] : undefined;
  if (config === undefined || config === null || config === "") return ok({ namespace, name, annotations });
  if (typeof config !== "string") {
    return invalid(`${fullName}: spec.config must be a string of JSON, but is ${describeJson(config)}`);
  }
  if (config.length > maxConfigLength) {
    return invalid(`${fullName}: spec.config has ${config.length} characters; at most ${maxConfigLength} are read`);
  }
  return ok({ namespace, name, annotations, config });
}

function invalid(why: string): Result<never> {
  return failed(fault("NETWORK_INVALID", `NetworkAttachmentDefinition ${why}`));
}
