// The node's directories, as the node's programs and as this program name them. In a container the node's directories are mounted below another
// root, such as `/host`.

import { realpathSync } from "node:fs";
import { join } from "node:path";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { makeDirectory } from "../../store/files/make-directory.ts";
import { storeFault } from "../../store/files/durable-file.ts";

/** Mode of directories that an installation makes. */
export const directoryMode = 0o755;

/** A directory of the node. */
export interface NodeDirectory {
  /** The path for programs of the node. */
  readonly onNode: string;
  /** The path for this program. */
  readonly here: string;
}

/** A directory of the node whose root is mounted at `root`. */
export function nodeDirectory(root: string, onNode: string): NodeDirectory {
  return { onNode, here: root === "/" ? onNode : join(root, onNode) };
}

/**
 * Makes the directory unless it is there. Refuses a symbolic link below another root, because its target would be looked up in this program's
 * root. Faults INSTALL_REFUSED, STORE_FAILED.
 */
export function makeNodeDirectory(root: string, { here, onNode }: NodeDirectory): Result<void> {
  try {
    makeDirectory(here, directoryMode);
    const real = realpathSync(here);
    if (root === "/" || real === join(realpathSync(root), onNode)) return ok(undefined);
    return failed(
      fault(
        "INSTALL_REFUSED",
        `${here} leads through a symbolic link to ${real}: give the directory that ${onNode} leads to on the node`,
      ),
    );
  } catch (error) {
    return failed(storeFault("making", here, error));
  }
}
