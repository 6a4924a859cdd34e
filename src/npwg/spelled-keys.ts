// Keys of a selection in any case of letters: Go's JSON decoder, and so Multus, reads `"Interface"` as `"interface"`.

import { foldedKey } from "../json/folded-key.ts";

/** The written spelling of each valid key that occurs, or two spellings of one key, which two readers could understand differently. */
export type Spellings =
  | { readonly ok: true; readonly value: ReadonlyMap<string, string> }
  | { readonly ok: false; readonly problem: string };

/** Finds the valid keys among the written ones. With `foldsCase` the case of letters does not matter. */
export function spellingsOf(written: Iterable<string>, valid: readonly string[], foldsCase: boolean): Spellings {
  const spellings = new Map<string, string>();
  const folded = foldsCase ? new Map(valid.map((key) => [foldedKey(key), key])) : undefined;
  for (const key of written) {
    const meant = valid.includes(key) ? key : folded?.get(foldedKey(key));
    if (meant === undefined) continue;
    const earlier = spellings.get(meant);
    if (earlier !== undefined) return { ok: false, problem: `has "${earlier}" and "${key}", which are one key in two spellings` };
    spellings.set(meant, key);
  }
  return { ok: true, value: spellings };
}
