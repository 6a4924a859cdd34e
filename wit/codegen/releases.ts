// The versions of the contract: a directory of wit/ for each.

import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The versions below a directory of contracts, such as `wit/`. */
export function releasesIn(directory: string): readonly string[] {
  const entries = readdirSync(directory, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory() && /^\d+\.\d+\.\d+$/.test(entry.name)).map(({ name }) => name);
}

/** The contract's text, below the directory of contracts. */
export function contractPath(version: string): string {
  return `${version}/delegate.wit`;
}

/** The contract's model, which is generated from the text, below the directory of contracts. */
export function modelPath(version: string): string {
  return `${version}/generated/model.json`;
}

/** The repository's directory of contracts. The kit for authors has a copy in a place of its own. */
export const witDirectory = fileURLToPath(new URL("../", import.meta.url));
