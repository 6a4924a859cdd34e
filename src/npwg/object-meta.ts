// The common metadata of pods and NetworkAttachmentDefinitions, read from an untrusted object.

import { describeJson, isJsonObject } from "../json/document.ts";
import { quote } from "../json/quote.ts";
import { labelProblem, subdomainProblem } from "./object-names.ts";

/** The fields of an object's metadata that Plexus reads. */
export interface ObjectMeta {
  readonly namespace: string;
  readonly name: string;
  readonly uid?: string;
  readonly annotations: ReadonlyMap<string, string>;
}

/** The metadata, or a problem as the rest of a sentence that begins with the object's kind. */
export type MetaReading = { readonly ok: true; readonly value: ObjectMeta } | { readonly ok: false; readonly problem: string };

/** Reads `metadata` of an object. A missing namespace means "default", as for the API server. */
export function readObjectMeta(object: unknown): MetaReading {
  const metadata = member(object, "metadata");
  if (!isJsonObject(metadata)) return invalid(`has no metadata: it is ${describeJson(metadata)}`);
  const name = member(metadata, "name");
  if (typeof name !== "string") return invalid(`has no metadata.name: it is ${describeJson(name)}`);
  const nameProblem = subdomainProblem(name);
  if (nameProblem !== undefined) return invalid(`${quote(name)}: its name ${nameProblem}`);
  const namespace = member(metadata, "namespace") ?? "default";
  if (typeof namespace !== "string") return invalid(`${name}: metadata.namespace is ${describeJson(namespace)}`);
  const namespaceProblem = labelProblem(namespace);
  if (namespaceProblem !== undefined) return invalid(`${name}: its namespace ${quote(namespace)} ${namespaceProblem}`);
  const uid = member(metadata, "uid") ?? undefined;
  if (uid !== undefined && typeof uid !== "string") return invalid(`${namespace}/${name}: metadata.uid is ${describeJson(uid)}`);
  const annotations = new Map<string, string>();
  const written = member(metadata, "annotations") ?? {};
  if (!isJsonObject(written)) return invalid(`${namespace}/${name}: metadata.annotations is ${describeJson(written)}`);
  for (const [key, value] of Object.entries(written)) {
    if (typeof value !== "string") {
      return invalid(`${namespace}/${name}: the annotation ${quote(key)} must be a string, but is ${describeJson(value)}`);
    }
    annotations.set(key, value);
  }
  return { ok: true, value: { namespace, name, annotations, ...(uid === undefined || uid === "" ? {} : { uid }) } };
}

function invalid(problem: string): MetaReading {
  return { ok: false, problem };
}

function member(object: unknown, key: string): unknown {
  return isJsonObject(object) && Object.hasOwn(object, key) ? object[key] : undefined;
}
