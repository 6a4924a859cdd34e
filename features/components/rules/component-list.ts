// Reads the list of components that a node must have: the chart's `components:` as JSON.

import { digestRule, keyNameRule, publicKeys } from "../../../src/configuration/keys/component-keys.ts";
import { ObjectReader } from "../../../src/configuration/object-reader.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { describeJson, isJsonObject } from "../../../src/json/document.ts";
import { type ArtifactReference, readReference } from "./reference.ts";

/** One component of the list. */
export interface ListedComponent {
  /** The plugin type: the component becomes TYPE.wasm. */
  readonly type: string;
  readonly reference: ArtifactReference;
  /** Name of the key that must have signed the manifest. */
  readonly signedBy: string | undefined;
  /** Digest that the component's bytes must have. */
  readonly digest: string | undefined;
}

/** The list. */
export interface ComponentList {
  readonly components: readonly ListedComponent[];
  /** Public keys by name: a PEM text, or the absolute path of such a file. */
  readonly keys: Readonly<Record<string, string>>;
}

/** A plugin type as a file name, which is never hidden. */
export const typePattern = /^[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,100}$/;
/** The description of `typePattern` in messages. */
export const typeWanted = "a plugin type of letters, digits, _, . and -";

/** After so many mistakes the rest of the list is not read. */
const maxProblems = 100;

/** Reads the list's text; `path` is for messages. Fault CONFIG_INVALID names the first hundred mistakes; REFERENCE_INVALID. */
export function readComponentList(text: string, path: string): Result<ComponentList> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return invalid(`${path} is not JSON`);
  }
  if (!isJsonObject(value)) return invalid(`${path} must be an object, but is ${describeJson(value)}`);
  const reader = new ObjectReader(value);
  const keys = (reader.has("keys") ? publicKeys.read(reader, "keys") : undefined) ?? {};
  const listed = Array.isArray(reader.value("components")) && (value["components"] as unknown[]).length === 0;
  const components: ListedComponent[] = [];
  reader.require("components");
  for (const each of listed ? [] : (reader.objects("components") ?? [])) {
    if (reader.problems.length > maxProblems) break;
    each.require("type", "reference");
    const type = each.matching("type", typePattern, typeWanted);
    const signedBy = each.matching("signedBy", keyNameRule.pattern, keyNameRule.wanted);
    const digest = each.matching("digest", digestRule.pattern, digestRule.wanted);
    const reference = readReference(each.string("reference") ?? "");
    if (each.string("reference") !== undefined && !reference.ok) each.refuse("reference", reference.fault.msg);
    if (signedBy !== undefined && !Object.hasOwn(keys, signedBy)) each.refuse("signedBy", `keys has no key ${signedBy}`);
    if (reference.ok && reference.value.digest === undefined && digest === undefined && signedBy === undefined)
      each.refuse("reference", "needs a digest (REFERENCE@sha256:…), or signedBy: a tag alone may lead to any content");
    each.end();
    if (type !== undefined && components.some((other) => other.type === type)) each.refuse("type", `${type} is listed twice`);
    if (type !== undefined && reference.ok) components.push({ type, reference: reference.value, signedBy, digest });
  }
  reader.end();
  if (reader.problems.length > 0) return invalid(`${path}: ${reader.problems.join("; ")}`);
  return ok({ components, keys });
}

function invalid(why: string): Result<never> {
  return failed(fault("CONFIG_INVALID", why));
}
