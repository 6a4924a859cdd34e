// The programs that serve `plexusctl delegate`: a file beside plexusctl for commands that need only the sandbox, and the kit's program.

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { isJsonObject } from "../../../../src/json/document.ts";

/** The file of the commands that need only the sandbox, in the directory of the code. */
export const delegateCommands = "delegate-commands.cjs";

const kit = "@plexus-cni/sdk";
const program = "plexus-delegate";

/** The program of the kit, installed for one of these directories; undefined: none. */
export function kitProgram(directories: readonly string[]): string | undefined {
  for (const directory of directories) {
    try {
      const manifest = createRequire(join(directory, "package.json")).resolve(`${kit}/package.json`);
      const found: unknown = JSON.parse(readFileSync(manifest, "utf8"));
      const bin = isJsonObject(found) && isJsonObject(found["bin"]) ? found["bin"][program] : undefined;
      const path = typeof bin === "string" ? join(dirname(manifest), bin) : "";
      if (existsSync(path)) return path;
    } catch {
      // Not installed here: the next directory may have it.
    }
  }
  return undefined;
}

/** The line about a command whose kit is absent. */
export function kitIsMissing(command: string, directory: string): string {
  return `delegate ${command} needs the kit, and ${directory} has none. To do: npm install --save-dev ${kit}; before the first release with the file of the package that "npm run release -- --untagged --only sdk" makes in a clone of Plexus`;
}
