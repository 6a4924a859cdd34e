// The metadata that pods and NetworkAttachmentDefinitions share, read from an object of unknown origin.

import { describeJson, isJsonObject } from "../json/document.ts";
import { quote } from "../json/quote.ts";
import { labelProblem, subdomainProblem } from "./object-names.ts";

export interface ObjectMeta {
  readonly namespace: string;
  readonly name: string;
  readonly uid?: string;
  readonly annotations: ReadonlyMap<string, string>;
}

/** The metadata, or what is wrong with it as the rest of a sentence that begins with the object's kind. */
export type MetaReading = { readonly ok: true; readonly value: ObjectMeta } | { readonly ok: false; readonly problem: string };

/** Reads `metadata` of an object. A missing namespace is "default", as the API server has it for a namespaced object. */
export function readObjectMeta(object: unknown): MetaReading {
  const metadata = ownMember(object, "metadata");
  if (!isJsonObject(metadata)) return bad(`has no metadata: it is ${describeJson(metadata)}`);
  const name = ownMember(metadata, "name");
  if (typeof name !== "string") return bad(`has no metadata.name: it is ${describeJson(name)}`);
  const nameProblem = subdomainProblem(name);
  if (nameProblem !== undefined) return bad(`${quote(name)}: its name ${nameProblem}`);
  const namespace = ownMember(metadata, "namespace") ?? "default";
  if (typeof namespace !== "string") return bad(`${name}: metadata.namespace is ${describeJson(namespace)}`);
  const namespaceProblem = labelProblem(namespace);
  if (namespaceProblem !== undefined) return bad(`${name}: its namespace ${quote(namespace)} ${namespaceProblem}`);
  const uid = ownMember(metadata, "uid") ?? undefined;
  if (uid !== undefined && typeof uid !== "string") return bad(`${namespace}/${name}: metadata.uid is ${describeJson(uid)}`);
  const annotations = new Map<string, string>();
  const given = ownMember(metadata, "annotations") ?? {};
  if (!isJsonObject(given)) return bad(`${namespace}/${name}: metadata.annotations is ${describeJson(given)}`);
  for (const [key, value] of Object.entries(given)) {
    if (typeof value !== "string") {
      return bad(`${namespace}/${name}: the annotation ${quote(key)} must be a string, but is ${describeJson(value)}`);
    }
    annotations.set(key, value);
  }
  return { ok: true, value: { namespace, name, annotations, ...(uid === undefined || uid === "" ? {} : { uid }) } };
}

function bad(problem: string): MetaReading {
  return { ok: false, problem };
}

function ownMember(object: unknown, key: string): unknown {
  return isJsonObject(object) && Object.hasOwn(object, key) ? object[key] : undefined;
}
