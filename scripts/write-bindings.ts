// The guest's AssemblyScript of the current contract, for editors: in the repository and in the kit for authors.

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bindingsOf, currentAbi, readAbi } from "../delegates/sdk/build/abi.ts";

/** Makes `directory` hold the files of `plexus/abi/` and no others. A file that is as it should be stays, because other builds may read it. */
export function writeBindings(directory: string): void {
  const abi = readAbi(currentAbi);
  if (abi === null) throw new Error(`wit/${currentAbi} can't be read`);
  const { files } = bindingsOf(abi);
  mkdirSync(directory, { recursive: true });
  for (const name of readdirSync(directory)) if (name.endsWith(".ts") && !files.has(name)) rmSync(join(directory, name));
  for (const [name, text] of files) {
    const file = join(directory, name);
    if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
    const temporary = `${file}.${process.pid}`;
    writeFileSync(temporary, text);
    renameSync(temporary, file);
  }
}
