// The objects in a manifest file's text: one JSON object, or YAML documents; a List gives its items.

import type * as Yaml from "yaml";
import { describeJson, isJsonObject, parseDocument } from "../../src/json/document.ts";
import { quote } from "../../src/json/quote.ts";
import { readObjectMeta } from "../../src/npwg/object-meta.ts";
import { indentQuotedScalars } from "../../src/npwg/quoted-scalars.ts";

export type ManifestKind = "Pod" | "NetworkAttachmentDefinition";

export interface ManifestObject {
  readonly kind: ManifestKind;
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
  readonly object: unknown;
}

export interface ManifestContent {
  readonly objects: readonly ManifestObject[];
  /** One sentence for each document that could not be read; each names the file. */
  readonly problems: readonly string[];
}

const versions: Readonly<Record<ManifestKind, string>> = {
  Pod: "v1",
  NetworkAttachmentDefinition: "k8s.cni.cncf.io/v1",
};

/** Reads a file's objects; kinds that Plexus has no use for are passed over in silence. */
export async function readObjects(path: string, text: string): Promise<ManifestContent> {
  const read = path.endsWith(".json") ? readJson(path, text) : await readYaml(path, text);
  const objects: ManifestObject[] = [];
  const problems = [...read.problems];
  for (const document of read.documents) sort(document, undefined, path, objects, problems);
  return { objects, problems };
}

interface Documents {
  readonly documents: readonly unknown[];
  readonly problems: readonly string[];
}

function readJson(path: string, text: string): Documents {
  const document = parseDocument(text, { what: path, kind: "CLUSTER_UNREADABLE" });
  return document.ok ? { documents: [document.value.parsed], problems: [] } : { documents: [], problems: [document.fault.msg] };
}

/** How many times an alias may be resolved in one document: a billion laughs end here. */
const mostAliases = 100;

async function readYaml(path: string, text: string): Promise<Documents> {
  // Loaded only where there is YAML: it costs a one-shot brain more than everything else here.
  const yaml = await import("yaml");
  const read = parseYaml(yaml, path, text);
  if (read.problems.length === 0) return read;
  const indented = indentQuotedScalars(text);
  const again = indented === text ? read : parseYaml(yaml, path, indented);
  return again.problems.length === 0 ? again : read;
}

function parseYaml(yaml: Pick<typeof Yaml, "parseAllDocuments">, path: string, text: string): Documents {
  const documents: unknown[] = [];
  const problems: string[] = [];
  try {
    for (const [index, document] of Array.from(yaml.parseAllDocuments(text, { stringKeys: true })).entries()) {
      const [error] = document.errors;
      if (error === undefined) documents.push(document.toJS({ maxAliasCount: mostAliases }));
      else problems.push(`${path}, document ${index + 1}: ${quote(error.message.split("\n")[0] ?? "")}`);
    }
  } catch (error) {
    problems.push(`${path}: ${quote(error instanceof Error ? error.message : String(error))}`);
  }
  return { documents, problems };
}

/** Puts an object where it belongs. `listed` is what a typed list's items are when they don't say so themselves. */
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

/** A list's item; a list within a list is nothing that Kubernetes knows. */
function sortItem(
  item: unknown,
  listed: ManifestKind | undefined,
  path: string,
  objects: ManifestObject[],
  problems: string[],
): void {
  if (isJsonObject(item) && textOf(item, "kind")?.endsWith("List") === true) problems.push(`${path}: a list within a list`);
  else sort(item, listed, path, objects, problems);
}

function kindOf(kind: string | undefined): ManifestKind | undefined {
  return kind === "Pod" || kind === "NetworkAttachmentDefinition" ? kind : undefined;
}

function textOf(object: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  return typeof value === "string" ? value : undefined;
}
