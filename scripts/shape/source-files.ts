// The sources of a checkout: what Git knows, without tests and what only tests use.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The sources of one checkout. */
export interface Checkout {
  /** The directory. */
  readonly root: string;
  /** Paths of all files that Git knows, from `root`. */
  readonly files: readonly string[];
  /** The content of a file of `files`. */
  readonly read: (file: string) => string;
}

/** Opens a checkout. Throws outside of a Git work tree. */
export function openCheckout(root: string): Checkout {
  const args = ["-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const listed = execFileSync("git", args, { encoding: "utf8", maxBuffer: 16 << 20 });
  const texts = new Map<string, string>();
  const read = (file: string): string => {
    const text = texts.get(file) ?? readFileSync(join(root, file), "utf8");
    texts.set(file, text);
    return text;
  };
  const files = listed.split("\0").filter((file) => file !== "" && existsSync(join(root, file)));
  return { root, files: [...new Set(files)].toSorted(), read };
}

/** Whether a file is code that runs outside of tests: TypeScript or C, no test, no test's helper, no guest, nothing generated. */
export function isProductCode(file: string): boolean {
  return /\.(?:ts|mts|tsx|c|h)$/.test(file) && !/\.test\.ts$|(?:^|\/)(?:testing|assembly|generated|golden)\//.test(file);
}

/** The number of lines that are neither empty nor a comment as a whole. */
export function codeLines(text: string): number {
  return text.split("\n").filter((line) => !/^\s*(?:$|\/\/|\/\*|\*)/.test(line)).length;
}

/** The number of lines. */
export function allLines(text: string): number {
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}
