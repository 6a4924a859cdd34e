// Blocks of the documentation's pages, for tests that run them as they stand.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./compiled.ts";

/** The first block of a language on a page of docs/how-to that contains a text. Throws if the page has none. */
export function pageBlock(page: string, language: string, containing: string): string {
  const text = readFileSync(join(root, "docs", "how-to", page), "utf8");
  const blocks = [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gmu)].filter(([, its]) => its === language);
  const block = blocks.map(([, , content = ""]) => content).find((content) => content.includes(containing));
  if (block === undefined) throw new Error(`${page} has no block of ${language} with ${containing}`);
  return block;
}
