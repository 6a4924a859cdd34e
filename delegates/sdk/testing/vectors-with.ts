// Finds the vectors of a delegate that use a key of its configuration, so that a test can show that each documented key has one.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readVectors } from "./vector.ts";

/** The names of the delegate's vectors whose configuration has this key, in any case. */
export async function vectorsWith(directory: URL, key: string): Promise<readonly string[]> {
  const vectors = await readVectors(join(fileURLToPath(directory), "vectors"));
  return vectors.filter(({ stdin }) => keysOf(stdin).includes(key.toLowerCase())).map(({ name }) => name);
}

function keysOf(stdin: unknown): readonly string[] {
  const value: unknown = typeof stdin === "string" ? JSON.parse(stdin) : stdin;
  return typeof value === "object" && value !== null ? Object.keys(value).map((key) => key.toLowerCase()) : [];
}
