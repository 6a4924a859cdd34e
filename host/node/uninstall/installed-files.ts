// The list of installed files, which `plexusctl install` writes into Plexus' home directory: one line `DIGEST  PLACE/NAME` for each file.
// The list does not contain the programs' code, which has directories of its own (see codePrefix).

import { createHash } from "node:crypto";
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { dirname } from "node:path";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { storeFault } from "../../store/files/durable-file.ts";
import { errnoOf } from "../../store/files/errno.ts";

/** Where a file is installed: Plexus' home directory, or the directory of plugins. */
export const places = ["home", "cni-bin"] as const;

/** One line of the list. */
export interface InstalledFile {
  readonly place: (typeof places)[number];
  /** Path relative to `place`: a file name, or a file name in one subdirectory. */
  readonly name: string;
  /** SHA-256, in hexadecimal. */
  readonly digest: string;
}

/** Name prefix of the directories with the programs' code, in the home directory. The link `engine` points to the current one. */
export const codePrefix = "engine-";

/** File name of the list, in the home directory. */
export const listName = "installed-files";

/** File name of the list in the directory of plugins, for an installation without a home directory. */
export const listNameBesidePlugins = ".plexus-installed-files";

/**
 * The target of the link `.plexus` beside the shim without a one-shot engine: a name that does not exist. Without the link the shim would start an engine that an
 * earlier installation left in /opt/plexus.
 */
export const noEngine = ".no-one-shot-engine";

const linePattern = /^([0-9a-f]{64}) {2}(home|cni-bin)\/([\w.-]+(?:\/[\w.-]+)?)$/;
const pieceBytes = 1024 * 1024;

/** The list's content. */
export function listText(files: readonly InstalledFile[]): string {
  return files.map(({ digest, place, name }) => `${digest}  ${place}/${name}\n`).join("");
}

/** Reads the list at this path. Fault STORE_FAILED, also if the list is absent or malformed. */
export function readInstalledFiles(path: string): Result<readonly InstalledFile[]> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") return failed(storeFault("reading", path, error));
    return failed(fault("STORE_FAILED", `${path} does not exist: ${dirname(path)} was not made by plexusctl install`));
  }
  const files: InstalledFile[] = [];
  for (const [index, line] of text.trimEnd().split("\n").entries()) {
    const [, digest, place, name] = linePattern.exec(line) ?? [];
    const known = places.find((each) => each === place);
    const climbs = name?.split("/").some((part) => part === "." || part === "..") ?? true;
    if (digest === undefined || known === undefined || name === undefined || climbs)
      return failed(fault("STORE_FAILED", `${path}: line ${index + 1} is not "DIGEST  home/NAME" or "DIGEST  cni-bin/NAME"`));
    files.push({ digest, place: known, name });
  }
  return ok(files);
}

/** SHA-256 of a file, in hexadecimal. Reads in pieces, because Node's executable is large. Throws the errors of node:fs. */
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
