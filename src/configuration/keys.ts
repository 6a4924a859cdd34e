// The names of the host configuration's keys: those that a configuration file may have, and how a key in another case is read. Go's JSON
// decoder accepts keys in any case, so Multus does too, and its users' files rely on it.

import { type JsonObjectDocument, memberText } from "../json/document.ts";
import { allKeys } from "./keys/host-keys.ts";
import { keysWhere } from "./table/key.ts";

/** Keys that only the CNI configuration may have. */
export const cniConfigurationOnly: readonly string[] = keysWhere(allKeys, ({ inCniOnly }) => inCniOnly === true);

/** Keys that only a runtime sets, on stdin. */
export const runtimeKeys: readonly string[] = keysWhere(allKeys, ({ byRuntime }) => byRuntime === true);

/** Every key of the configuration. */
export const knownKeys: readonly string[] = Object.keys(allKeys);

const byLowerCase: ReadonlyMap<string, string> = new Map(knownKeys.map((key) => [key.toLowerCase(), key]));

/** A document's members under their canonical keys. */
export interface SpelledKeys {
  /** JSON text by the key's canonical spelling. */
  readonly members: ReadonlyMap<string, string>;
  /** One sentence for each key that was written in another case. */
  readonly notices: readonly string[];
}

/** The document's members. A known key in another case gets its canonical spelling, unless the document has that as well. */
export function spelledKeys(document: JsonObjectDocument): SpelledKeys {
  const members = new Map<string, string>();
  const notices: string[] = [];
  for (const key of document.members.keys()) {
    const meant = byLowerCase.get(key.toLowerCase());
    const moved = meant !== undefined && meant !== key && !document.members.has(meant) && !members.has(meant);
    if (moved) notices.push(`configuration: ${key} is read as ${meant}`);
    members.set(moved ? meant : key, memberText(document, key) ?? "null");
  }
  return { members, notices };
}
