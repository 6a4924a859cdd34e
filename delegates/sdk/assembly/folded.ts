// Keys in any case. The reference plugins are written in Go, whose JSON decoder accepts `rangestart` for `rangeStart`, and
// existing configurations rely on that.

import { Config } from "./config";
import { Json } from "./json";

/**
 * An object of the configuration, at `path` within `parent`, with the members that `keys` name, in any case; the last of equal
 * keys wins. Null, with the fault in `parent`, if it is not an object.
 */
export function folded(parent: Config, json: Json, path: string, keys: StaticArray<string>): Config | null {
  if (!json.isObject) {
    parent.refuse(path, `must be an object, is ${json.kindName}`);
    return null;
  }
  const spelled = Json.object();
  for (let i = 0; i < keys.length; i++) {
    const value = json.getAnyCase(keys[i]);
    if (value !== null) spelled.append(keys[i], value);
  }
  return parent.within(spelled, path);
}

/** The same for the member `key`; null if absent. */
export function foldedMember(parent: Config, key: string, keys: StaticArray<string>): Config | null {
  const json = parent.member(key);
  return json !== null ? folded(parent, json, key, keys) : null;
}
