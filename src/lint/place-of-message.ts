// Finds the member that an error message is about. Messages name a member by its path, such as `plugins[0]: ipam` or `wasm.limits.timeMs`.

import type { JsonPath } from "../json/position.ts";
import { placesOf, type TextPlaces } from "../json/text-places.ts";

const named = /[A-Za-z_][\w-]*(?:\[\d+\])*(?:(?:\.|: )[A-Za-z_][\w-]*(?:\[\d+\])*)*/g;
/** Longer messages quote foreign text. */
const maxLength = 2000;

/** Maximum names of a message that are looked for, and maximum plugins in which they are looked for: a text may have thousands of plugins. */
const maxNames = 32;
const maxPlugins = 32;
/** Maximum mistakes of one message. One more text counts the others. */
const maxMistakes = 64;

/** The offset of the member that the message names; 0 if it names none. In a text that is not JSON: the offset of the mistake. */
export function offsetOfMessage(text: string, message: string): number {
  if (text === "") return 0;
  const places = placesOf(text);
  const mistake = places.mistake();
  if (mistake !== undefined) return mistake;
  const bases = basesIn(places);
  const names = [...message.slice(0, maxLength).matchAll(named)].flatMap(([match]) => endsOf(match));
  let best: { readonly path: JsonPath; readonly depth: number } | undefined;
  for (const written of [...new Set(names)].slice(0, maxNames)) {
    for (const base of bases) {
      const path = [...base, ...pathOf(written)];
      for (let length = path.length; length > base.length + (best?.depth ?? 0); length--) {
        const part = path.slice(0, length);
        if (places.offsetOf(part) === undefined) continue;
        best = { path: part, depth: length - base.length };
        break;
      }
    }
  }
  return best === undefined ? 0 : places.nearest(best.path);
}

/** The mistakes of a message that lists several, each of which begins with its member. */
export function mistakesIn(message: string): readonly string[] {
  const parts = message.split("; ");
  const isList = parts.length > 1 && parts.slice(1).every((part) => /^[\w.[\]-]+: /.test(part));
  if (!isList) return [message];
  const more = parts.length - maxMistakes;
  return more > 0 ? [...parts.slice(0, maxMistakes), `and ${more} more mistakes`] : parts;
}

/** Paths are relative to the whole text, or to one of its plugins. */
function basesIn(places: TextPlaces): readonly JsonPath[] {
  const plugins = Math.min(places.lengthOf(["plugins"]), maxPlugins);
  return [[], ...Array.from({ length: plugins }, (_, index) => ["plugins", index])];
}

/** The path and its shorter ends: "network: spec.config: ipam" may begin with names that are no members. */
function endsOf(written: string): readonly string[] {
  const parts = written.split(": ");
  return parts.map((_, index) => parts.slice(index).join(": "));
}

function pathOf(written: string): JsonPath {
  return written.split(/\.|: /).flatMap((part) => {
    const [key = "", ...indices] = part.split("[");
    return [key, ...indices.map((index) => Number.parseInt(index, 10))];
  });
}
