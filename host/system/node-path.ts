// The path of the Node that runs this program.

import { execPath } from "node:process";

/** The text that the kernel adds to the path of a program whose file was replaced. */
const deleted = " (deleted)";

/** The absolute path of Node. If an update has replaced the file since this process started, the path of the new file. */
export function nodePath(path: string = execPath): string {
  return path.endsWith(deleted) ? path.slice(0, -deleted.length) : path;
}
