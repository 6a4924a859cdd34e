// Several parameters of one network (KEP-3698, KE-60): the first NetworkAttachmentDefinition is the chain, the others add keys to the plugins
// of the chain that have the same type.

import { parseNetworkList, type NetworkList, type PluginConf, selfContainedText } from "../cni/network-list.ts";
import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { editMembers, isJsonObject, memberText, memberTexts, parseDocument } from "../json/document.ts";
import { quote } from "../json/quote.ts";

/** One parameter: a definition's network, and the definition's `namespace/name`. */
export interface Parameter {
  readonly source: string;
  readonly list: NetworkList;
}

/** Keys that belong to a configuration as a whole, so that no other parameter adds them. */
const frameKeys: readonly string[] = ["type", "name", "cniVersion", "cniVersions"];

/**
 * The chain of the first parameter with the keys of all others. An object is merged member by member; any other value that differs is a
 * contradiction. Fault NETWORK_INVALID names both definitions and the key.
 */
export function mergeParameters(parameters: readonly Parameter[]): Result<NetworkList> {
  const [first, ...others] = parameters;
  if (first === undefined) return failed(fault("NETWORK_INVALID", "the network has no definition"));
  if (others.length === 0) return ok(first.list);
  const texts = first.list.plugins.map((plugin) => plugin.document.text);
  /** The definition that has set a path of a plugin's object, for messages. */
  const owners = new Map<string, string>();
  for (const { source, list } of others) {
    for (const plugin of list.plugins) {
      const index = first.list.plugins.findIndex(({ type }) => type === plugin.type);
      if (index === -1) {
        const types = first.list.plugins.map(({ type }) => type).join(", ");
        return invalid(
          `${source} has keys for the plugin ${quote(plugin.type, 60)}, which is not in the chain of ${first.source} (${types})`,
        );
      }
      const merged = mergeObject(texts[index] ?? "{}", keysOf(plugin), `plugins[${index}]`, source, {
        owners,
        base: first.source,
      });
      if (!merged.ok) return merged;
      texts[index] = merged.value;
    }
  }
  const what = `network ${first.list.name}`;
  const document = parseDocument(selfContainedText(first.list), { what });
  return document.ok
    ? parseNetworkList(editMembers(document.value, new Map([["plugins", `[${texts.join(",")}]`]])), what)
    : document;
}

interface Merge {
  readonly owners: Map<string, string>;
  /** The definition of the chain. */
  readonly base: string;
}

function keysOf({ document }: PluginConf): ReadonlyMap<string, string> {
  const keys = [...document.members.keys()].filter((key) => !frameKeys.includes(key));
  return new Map(keys.map((key) => [key, memberText(document, key) ?? "null"]));
}

function mergeObject(
  text: string,
  additions: ReadonlyMap<string, string>,
  path: string,
  source: string,
  merge: Merge,
): Result<string> {
  const document = parseDocument(text, { what: path });
  if (!document.ok) return document;
  const edits = new Map<string, string>();
  for (const [key, added] of additions) {
    const at = `${path}.${key}`;
    const present = memberText(document.value, key);
    const [before, after]: unknown[] = [present === undefined ? undefined : JSON.parse(present), JSON.parse(added)];
    if (present === undefined) {
      edits.set(key, added);
      merge.owners.set(at, source);
    } else if (isJsonObject(before) && isJsonObject(after)) {
      const merged = mergeObject(present, memberTexts(added), at, source, merge);
      if (!merged.ok) return merged;
      edits.set(key, merged.value);
    } else if (JSON.stringify(before) !== JSON.stringify(after)) {
      return invalid(
        `${ownerOf(at, merge)} and ${source} contradict each other in ${at}: ${quote(present, 60)} and ${quote(added, 60)}`,
      );
    }
  }
  return ok(editMembers(document.value, edits));
}

/** The definition that has set the value at a path, or a value around it. */
function ownerOf(path: string, { owners, base }: Merge): string {
  for (const [owned, owner] of owners) if (path === owned || path.startsWith(`${owned}.`)) return owner;
  return base;
}

function invalid(why: string): Result<never> {
  return failed(fault("NETWORK_INVALID", why));
}
