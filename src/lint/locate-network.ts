// Finds where a network's plugins stand in a text: a list, a single configuration, or Plexus' configuration with networks inside.

import type { NetworkList } from "../cni/network-list.ts";
import { isJsonObject } from "../json/document.ts";
import type { JsonPath } from "../json/position.ts";

/** Maximum depth of a network in a text. */
const maxDepth = 12;

interface Candidate {
  readonly name: unknown;
  readonly plugins: readonly { readonly type: string; readonly path: JsonPath }[];
}

/** The path of each plugin of the list; undefined for those that are not in the text. The text must be JSON. */
export function locateNetwork(text: string, { name, plugins }: NetworkList): readonly (JsonPath | undefined)[] {
  const candidates = [...candidatesIn(JSON.parse(text), [], 0)];
  const isSame = (candidate: Candidate): boolean =>
    candidate.plugins.length > 0 && candidate.plugins.every(({ type }, index) => type === plugins[index]?.type);
  const found = candidates.find((each) => isSame(each) && each.name === name) ?? candidates.find(isSame);
  return plugins.map((_, index) => found?.plugins[index]?.path);
}

function* candidatesIn(value: unknown, path: JsonPath, depth: number): Generator<Candidate> {
  if (depth > maxDepth) return;
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) yield* candidatesIn(element, [...path, index], depth + 1);
    return;
  }
  if (!isJsonObject(value)) return;
  const listed: unknown = value["plugins"];
  if (Array.isArray(listed)) {
    const plugins = listed.flatMap((plugin: unknown, index) => {
      const type = isJsonObject(plugin) ? plugin["type"] : undefined;
      return typeof type === "string" ? [{ type, path: [...path, "plugins", index] }] : [];
    });
    yield { name: value["name"], plugins };
  } else if (typeof value["type"] === "string") {
    yield { name: value["name"], plugins: [{ type: value["type"], path }] };
  }
  for (const [key, member] of Object.entries(value)) yield* candidatesIn(member, [...path, key], depth + 1);
}
