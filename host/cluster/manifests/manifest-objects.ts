// The objects in a manifest file: one JSON object, or YAML documents; a List contains its items.

import type * as Yaml from "yaml";
import { describeJson, isJsonObject, parseDocument } from "../../../src/json/document.ts";
import { quote } from "../../../src/json/quote.ts";
import { readObjectMeta } from "../../../src/npwg/object-meta.ts";
import { indentQuotedScalars } from "../../../src/npwg/quoted-scalars.ts";

/** The kinds that are read from manifests. */
export type ManifestKind = "Pod" | "NetworkAttachmentDefinition";

/** One object of a manifest file. */
export interface ManifestObject {
  readonly kind: ManifestKind;
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
  readonly object: unknown;
}

/** The content of one manifest file. */
export interface ManifestContent {
  readonly objects: readonly ManifestObject[];
  /** Objects of the further kinds that the reader asked for, as they are. */
  readonly others: readonly Readonly<Record<string, unknown>>[];
  /** One sentence for each unreadable document, with the file's name. */
  readonly problems: readonly string[];
}

const versions: Readonly<Record<ManifestKind, string>> = {
  Pod: "v1",
  NetworkAttachmentDefinition: "k8s.cni.cncf.io/v1",
};

/** Reads a file's objects; other kinds are ignored silently, except for `further`. */
export async function readObjects(path: string, text: string, further: ReadonlySet<string> = noKinds): Promise<ManifestContent> {
  const read = path.endsWith(".json") ? readJson(path, text) : await readYaml(path, text);
  const objects: ManifestObject[] = [];
  const problems = [...read.problems];
  for (const document of read.documents) sort(document, undefined, path, objects, problems);
  const others = further.size === 0 ? [] : read.documents.flatMap(itemsOf).filter(({ kind }) => further.has(String(kind)));
  return { objects, others, problems };
}

const noKinds: ReadonlySet<string> = new Set();

/** The objects of a document: the items of a list, or the object itself. */
function itemsOf(document: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (!isJsonObject(document)) return [];
  const items = textOf(document, "kind")?.endsWith("List") === true ? document["items"] : undefined;
  return Array.isArray(items) ? items.filter(isJsonObject) : [document];
}

interface Documents {
  readonly documents: readonly unknown[];
  readonly problems: readonly string[];
}

function readJson(path: string, text: string): Documents {
  const document = parseDocument(text, { what: path, kind: "CLUSTER_UNREADABLE" });
  return document.ok ? { documents: [document.value.parsed], problems: [] } : { documents: [], problems: [document.fault.msg] };
}

/** Maximum number of resolved aliases in one document, against the "billion laughs" attack. */
const maxAliases = 100;

async function readYaml(path: string, text: string): Promise<Documents> {
  // Loaded only for YAML: the library costs a one-shot engine more than everything else in this file.
  const yaml = await import("yaml");
  const read = parseYaml(yaml, path, text);
  if (read.problems.length === 0) return read;
  const indented = indentQuotedScalars(text);
  const again = indented === text ? read : parseYaml(yaml, path, indented);
  return again.problems.length === 0 ? again : read;
}

function parseYaml(yaml: typeof Yaml, path: string, text: string): Documents {
  const documents: unknown[] = [];
  const problems: string[] = [];
  try {
    for (const [index, document] of Array.from(yaml.parseAllDocuments(text, { stringKeys: true })).entries()) {
      const [error] = document.errors;
      if (error === undefined) documents.push(document.toJS({ maxAliasCount: maxAliases }));
      else problems.push(`${path}, document ${index + 1}: ${quote(error.message.split("\n")[0] ?? "")}`);
    }
  } catch (error) {
    problems.push(`${path}: ${quote(error instanceof Error ? error.message : String(error))}`);
  }
  return { documents, problems };
}

/** Adds an object to `objects`, or its problem to `problems`. `listed` is the kind of a typed list's items without a kind. */
function sort(
  object: unknown,
  listed: ManifestKind | undefined,
  path: string,
  objects: ManifestObject[],
  problems: string[],
): void {
  // YAML has an empty document between two separators.
  if (object === null || object === undefined) return;
  if (!isJsonObject(object)) {
    problems.push(`${path}: a manifest must be an object, but is ${describeJson(object)}`);
    return;
  }
  const kind = textOf(object, "kind") ?? listed;
  const items = kind?.endsWith("List") === true && Object.hasOwn(object, "items") ? object["items"] : undefined;
  if (Array.isArray(items)) {
    for (const item of items) sortItem(item, kindOf(kind?.slice(0, -"List".length)), path, objects, problems);
    return;
  }
  const known = kindOf(kind);
  if (known === undefined) return;
  const version = textOf(object, "apiVersion") ?? (listed === known ? versions[known] : undefined);
  const meta = readObjectMeta(object);
  if (version !== versions[known]) {
    problems.push(`${path}: ${known} of apiVersion ${quote(version ?? "", 60)}; ${versions[known]} is read`);
  } else if (!meta.ok) {
    problems.push(`${path}: ${known} ${meta.problem}`);
  } else {
    objects.push({ kind: known, namespace: meta.value.namespace, name: meta.value.name, path, object });
  }
}

/** Adds an item of a list; Kubernetes has no lists within lists. */
function sortItem(
  item: unknown,
  listed: ManifestKind | undefined,
  path: string,
  objects: ManifestObject[],
  problems: string[],
): void {
  if (isJsonObject(item) && textOf(item, "kind")?.endsWith("List") === true)
    problems.push(`${path}: a list within a list is not supported; list its items directly`);
  else sort(item, listed, path, objects, problems);
}

function kindOf(kind: string | undefined): ManifestKind | undefined {
  return kind === "Pod" || kind === "NetworkAttachmentDefinition" ? kind : undefined;
}

function textOf(object: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  return typeof value === "string" ? value : undefined;
}
