// Finds the member that an error message is about. Messages name a member by its path, such as `plugins[0]: ipam` or `wasm.limits.timeMs`.

import { isJsonObject } from "../json/document.ts";
import { type JsonPath, nearestOffset, offsetOfMistake, offsetOfPath } from "../json/position.ts";

const named = /[A-Za-z_][\w-]*(?:\[\d+\])*(?:(?:\.|: )[A-Za-z_][\w-]*(?:\[\d+\])*)*/g;
/** Longer messages quote foreign text. */
const maxLength = 2000;

/** The offset of the member in the text; of the mistake, if the text is not JSON; 0 if the message names none. */
export function offsetOfMessage(text: string, message: string): number {
  const mistake = text === "" ? undefined : offsetOfMistake(text);
  if (mistake !== undefined) return mistake;
  if (text === "") return 0;
  const bases = basesIn(text);
  let best: { readonly path: JsonPath; readonly depth: number } | undefined;
  for (const written of [...message.slice(0, maxLength).matchAll(named)].flatMap(([match]) => endsOf(match))) {
    for (const base of bases) {
      const path = [...base, ...pathOf(written)];
      for (let length = path.length; length > base.length + (best?.depth ?? 0); length--) {
        const part = path.slice(0, length);
        if (offsetOfPath(text, part) === undefined) continue;
        best = { path: part, depth: length - base.length };
        break;
      }
    }
  }
  return best === undefined ? 0 : nearestOffset(text, best.path);
}

/** The mistakes of a message that lists several, each of which begins with its member. */
export function mistakesIn(message: string): readonly string[] {
  const parts = message.split("; ");
  return parts.length > 1 && parts.slice(1).every((part) => /^[\w.[\]-]+: /.test(part)) ? parts : [message];
}

/** Paths are relative to the whole text, or to one of its plugins. */
function basesIn(text: string): readonly JsonPath[] {
  const value: unknown = JSON.parse(text);
  const plugins = isJsonObject(value) && Array.isArray(value["plugins"]) ? value["plugins"] : [];
  return [[], ...plugins.map((_, index) => ["plugins", index])];
}

/** "network: spec.config: ipam" may begin with names that are no members. */
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
