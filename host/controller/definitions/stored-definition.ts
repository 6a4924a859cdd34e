// The part of a definition that the check keeps in memory.

import { isJsonObject } from "../../../src/json/document.ts";
import { conditionsAnnotation } from "../../../src/lint/definition-conditions.ts";
import { readObjectMeta } from "../../../src/npwg/object-meta.ts";
import type { StoredObject } from "../../cluster/kube/object-store.ts";

/** A definition as last seen. */
export interface StoredDefinition {
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  /** `spec.config`; undefined: a file of each node. */
  readonly config: string | undefined;
  /** The length of a `spec.config` that is too long to be kept; 0 if it is kept. */
  readonly omittedLength: number;
  /** The conditions' annotation. */
  readonly conditions: string | undefined;
}

/** Maximum length of a configuration that is checked, in characters. Longer ones would fill the controller's memory. */
export const maxCheckedLength = 131_072;
/** Maximum length of an annotation that is compared: the controller's own text is shorter. */
const maxConditionsLength = 16_384;

/** Reads a definition. */
export function storedDefinition(object: unknown): StoredObject<StoredDefinition> | undefined {
  const meta = readObjectMeta(object);
  if (!meta.ok || !isJsonObject(object)) return undefined;
  const { namespace, name, annotations } = meta.value;
  const metadata = isJsonObject(object["metadata"]) ? object["metadata"] : {};
  const spec = isJsonObject(object["spec"]) ? object["spec"] : {};
  const config = typeof spec["config"] === "string" && spec["config"] !== "" ? spec["config"] : undefined;
  const isKept = config === undefined || config.length <= maxCheckedLength;
  const conditions = annotations.get(conditionsAnnotation)?.slice(0, maxConditionsLength);
  const value = {
    uid: textOf(metadata["uid"]),
    resourceVersion: textOf(metadata["resourceVersion"]),
    config: isKept ? config : "",
    omittedLength: isKept ? 0 : config.length,
    conditions,
  };
  return { namespace, name, value, size: (value.config?.length ?? 0) + (conditions?.length ?? 0) };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
