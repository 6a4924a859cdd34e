// The compilers of the languages. The package `@plexus-cni/sdk` has none of them: an author installs that of the language alone.

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { kitFile } from "./kit-files.ts";

/** The versions with which the kit is tested. A test compares them with package.json. */
export const toolVersions = {
  assemblyscript: "0.28.20",
  "componentize-qjs": "0.4.5",
  "@bytecodealliance/componentize-js": "0.22.0",
  /** componentize-js imports the shim and does not list it. */
  "@bytecodealliance/preview2-shim": "0.25.0",
  typescript: "7.0.2",
} as const;

/** The version of Node that the kit is tested with, for authors whose Node cannot run the sandbox. */
export const nodeVersion = "26.10.0";

/** The name of a compiler's package. */
export type Tool = keyof typeof toolVersions;

/** Throws an Error for the author if a package is not installed. `user`: the delegates that need it. */
export function requireTools(tools: readonly Tool[], user: string): void {
  const missing = tools.filter((name) => !isInstalled(name));
  if (missing.length === 0) return;
  const packages = tools.map((name) => `${name}@${toolVersions[name]}`).join(" ");
  throw new Error(`${user} need ${missing.join(" and ")}, which is not installed. To do: npm install --save-dev ${packages}`);
}

/** For package.json: the packages with their versions. */
export function dependenciesOf(tools: readonly Tool[]): Readonly<Record<string, string>> {
  return Object.fromEntries(tools.map((name) => [name, toolVersions[name]]));
}

function isInstalled(name: Tool): boolean {
  const paths = createRequire(kitFile("package.json")).resolve.paths(name) ?? [];
  return paths.some((path) => existsSync(join(path, name, "package.json")));
}
