// The languages of delegates, each recognized by the file that a delegate of this language must have.

import { existsSync } from "node:fs";
import { join } from "node:path";

/** A language in which the kit builds delegates. */
export interface Language {
  /** The name on the command line. */
  readonly id: LanguageId;
  /** The name for people. */
  readonly title: string;
  /** The file in the delegate's directory that tells the language. */
  readonly entry: string;
}

/** A language's name on the command line: `plexus-delegate new NAME --language ID`. */
export type LanguageId = "as" | "js" | "ts" | "rust" | "go" | "python";

/** The version of componentize-py that the tests run. */
export const componentizePyVersion = "0.25.1";

/** The first release of Go that builds delegates: it has `go:wasmexport`. The tests run 1.26. */
export const goVersion = "1.24";

/** The directory of the kit's Go packages for an ABI, within the delegate's directory. */
export function goPackagePath(abi: string): string {
  return `node_modules/@plexus-cni/sdk/go/${abi}`;
}

/** The interpreters of JavaScript. The first is the default. */
export const interpreters = ["quickjs", "starlingmonkey"] as const;

/** An interpreter's name on the command line: `plexus-delegate build --interpreter NAME`. */
export type Interpreter = (typeof interpreters)[number];

/** All languages. */
export const languages: readonly Language[] = [
  { id: "as", title: "AssemblyScript", entry: "assembly/index.ts" },
  { id: "js", title: "JavaScript", entry: "src/index.js" },
  { id: "ts", title: "TypeScript", entry: "src/index.ts" },
  { id: "rust", title: "Rust", entry: "Cargo.toml" },
  { id: "go", title: "Go", entry: "go.mod" },
  { id: "python", title: "Python", entry: "src/delegate.py" },
];

/** The language of the delegate in a directory. Throws an Error for the author if there is none or more than one. */
export function languageIn(dir: string): Language {
  const found = languages.filter(({ entry }) => existsSync(join(dir, entry)));
  const [only, second] = found;
  if (only === undefined) {
    const entries = languages.map(({ entry, title }) => `${entry} (${title})`).join(", ");
    throw new Error(`${dir} has no source that the kit knows: add one of ${entries}`);
  }
  if (second !== undefined) throw new Error(`${dir} has ${only.entry} and ${second.entry}: remove the one that is not in use`);
  return only;
}
