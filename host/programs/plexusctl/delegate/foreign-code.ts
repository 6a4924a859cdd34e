// Whether the kit, or the delegate that it builds, is code that another user can change. A build executes both: packages beside the kit, and a delegate's
// own build scripts.

import { existsSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { otherUserOf } from "../../../store/files/path-owners.ts";

/** The reason why another user can change the code; undefined if no other user can. `places`: directories and arguments; absent ones are left out. */
export function foreignCode(program: string, places: readonly string[]): string | undefined {
  try {
    const packages = parentsOf(realpathSync(program))
      .map((directory) => join(directory, "node_modules"))
      .filter((directory) => existsSync(directory));
    for (const path of [program, ...packages, ...places.filter((each) => existsSync(each))]) {
      const otherOwner = otherUserOf(resolve(path));
      if (otherOwner !== undefined) return otherOwner;
    }
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The directories above a path. Node.js looks for packages in each of them. */
function parentsOf(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...parentsOf(parent)];
}
