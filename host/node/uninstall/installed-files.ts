// The list of what an installation put on a node, which the installation leaves in its home: `DIGEST  PLACE/NAME`, a line for each file.
// The code of its programs is not in it: that has directories of its own.

import { createHash } from "node:crypto";
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { storeFault } from "../files/durable-file.ts";
import { errnoOf } from "../files/errno.ts";

export const places = ["home", "cni-bin"] as const;

export interface InstalledFile {
  /** Plexus' home, or the directory of plugins. */
  readonly place: (typeof places)[number];
  /** From there on; a plain name, or one in a directory of the home's. */
  readonly name: string;
  /** SHA-256, in hexadecimal. */
  readonly digest: string;
}

/** What directories with the programs' code are called, in the home; the link `brain` leads to the current one. */
export const codePrefix = "brain-";

/** The list's own name, in the home. */
export const listName = "installed-files";

const linePattern = /^([0-9a-f]{64}) {2}(home|cni-bin)\/([\w.-]+(?:\/[\w.-]+)?)$/;
const pieceBytes = 1024 * 1024;

export function listText(files: readonly InstalledFile[]): string {
  return files.map(({ digest, place, name }) => `${digest}  ${place}/${name}\n`).join("");
}

/** What was installed with this home. Faults: STORE_FAILED, also where there is no list or one that is none of ours. */
export function readInstalledFiles(home: string): Result<readonly InstalledFile[]> {
  const path = join(home, listName);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") return failed(storeFault("reading", path, error));
    return failed(fault("STORE_FAILED", `there is no ${path}: ${home} was not made by install-node`));
  }
  const files: InstalledFile[] = [];
  for (const [index, line] of text.trimEnd().split("\n").entries()) {
    const [, digest, place, name] = linePattern.exec(line) ?? [];
    const known = places.find((each) => each === place);
    const climbs = name?.split("/").some((part) => part === "." || part === "..") ?? true;
    if (digest === undefined || known === undefined || name === undefined || climbs)
      return failed(fault("STORE_FAILED", `${path}: line ${index + 1} is none of an installation's`));
    files.push({ digest, place: known, name });
  }
  return ok(files);
}

/** SHA-256 of a file, in hexadecimal; throws as node:fs does. A piece at a time: Node is among the files. */
export function digestOf(path: string): string {
  const file = openSync(path, "r");
  try {
    const hash = createHash("sha256");
    const piece = Buffer.allocUnsafe(pieceBytes);
    for (let size = readSync(file, piece); size > 0; size = readSync(file, piece)) hash.update(piece.subarray(0, size));
    return hash.digest("hex");
  } finally {
    closeSync(file);
  }
}
