// The npm packages whose code is in the programs and components of a build.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/** Name of the list in the build's directory. */
export const bundledPackagesFile = "bundled-packages.json";

/** Components contain the runtime of AssemblyScript. */
const inComponents = ["node_modules/assemblyscript"] as const;

/** Writes the list of packages, from the absolute paths of the bundle's modules. */
export function writeBundledPackages(outDir: string, moduleIds: readonly string[]): void {
  const packages = moduleIds.flatMap((id) => /\b(?:node_modules\/(?:@[^/]+\/)?[^/]+\/)+/.exec(id)?.[0].slice(0, -1) ?? []);
  const all = [...new Set([...packages, ...inComponents])].toSorted();
  writeFileSync(join(outDir, bundledPackagesFile), `${JSON.stringify(all, undefined, 2)}\n`);
}

/** Reads the list: packages as keys of package-lock.json, such as `node_modules/zod`. */
export function bundledPackages(text: string): readonly string[] {
  return z.array(z.string()).parse(JSON.parse(text));
}
