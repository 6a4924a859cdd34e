// The facts that the vectors of a delegate show: the verbs that they call, and the keys of its configuration that they use.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { isJsonObject } from "../../src/json/document.ts";

const vector = z.looseObject({ verb: z.string(), stdin: z.unknown() });

/** The vectors of one delegate. */
export interface VectorFacts {
  readonly count: number;
  readonly verbs: ReadonlySet<string>;
  /** Whether a vector's configuration has the key, in any case. Dots lead into objects, and into each element of a list. */
  readonly uses: (key: string) => boolean;
}

/** Reads the vectors of a delegate. `root`: the repository's directory. */
export function vectorFacts(root: string, delegate: string): VectorFacts {
  const directory = join(root, "delegates", delegate, "vectors");
  const files = readdirSync(directory).filter((name) => name.endsWith(".in.json"));
  const vectors = files.map((name) => vector.parse(JSON.parse(readFileSync(join(directory, name), "utf8"))));
  const configurations = vectors.map(({ stdin }) => parsedText(stdin));
  return {
    count: vectors.length,
    verbs: new Set(vectors.map(({ verb }) => verb)),
    uses: (key) => configurations.some((each) => hasKey(each, key.toLowerCase().split("."))),
  };
}

/** A configuration may stand as a text, which is not JSON in vectors of invalid input. */
function parsedText(stdin: unknown): unknown {
  if (typeof stdin !== "string") return stdin;
  try {
    return JSON.parse(stdin);
  } catch {
    return undefined;
  }
}

function hasKey(value: unknown, path: readonly string[]): boolean {
  const [first, ...rest] = path;
  if (first === undefined) return true;
  if (Array.isArray(value)) return value.some((each) => hasKey(each, path));
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(([key, member]) => key.toLowerCase() === first && hasKey(member, rest));
}
