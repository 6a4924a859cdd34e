// The files that a command line names. Root writes them only where no other user can lead it to another file.

import { writeFileSync } from "node:fs";
import { isRoot } from "../../../host/store/files/path-owners.ts";
import { writeOutputFile } from "../../../host/store/files/output-file.ts";
import { CommandError } from "./command.ts";

const mode = 0o644;

/** Writes the file. Throws a CommandError, or the error of node:fs. */
export function writeNamedFile(path: string, content: string | Uint8Array): void {
  if (!isRoot()) {
    writeFileSync(path, content);
    return;
  }
  const written = writeOutputFile(path, content, true, mode);
  if (!written.ok) throw new CommandError(written.fault.msg);
}
