// The Go module `plexus` of one contract: what follows from WIT, and the files of delegates/sdk/go/. The kit for authors has it below go/.

import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readAbi } from "../delegates/sdk/build/abi.ts";
import { kitFile } from "../delegates/sdk/build/kit-files.ts";
import { goBindings } from "../wit/codegen/go/bindings.ts";
import { delegateWorld } from "../wit/codegen/guest/delegate-bindings.ts";

/** Writes the module for a version of the contract into `directory`. */
export function writeGoModule(directory: string, version: string): void {
  const abi = readAbi(version);
  if (abi === null) throw new Error(`wit/${version} can't be read`);
  cpSync(kitFile("go"), directory, { recursive: true });
  for (const [path, text] of goBindings(abi.model, delegateWorld, abi.wit)) {
    const file = join(directory, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
