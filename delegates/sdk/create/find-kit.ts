// The kit of the project from which a program was started.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The kit's program in `node_modules` of a directory or of one above; undefined: no project there has the kit. */
export function kitProgram(from: string): string | undefined {
  for (let at = from; ; at = dirname(at)) {
    const file = join(at, "node_modules/@plexus-cni/sdk/dist/plexus-delegate.js");
    if (existsSync(file)) return file;
    if (at === dirname(at)) return undefined;
  }
}
