// Reads a component's file, and names the file's content. `Admission` keeps each admitted component under such a name.

import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { componentLimit } from "./limits.ts";
import type { Shim } from "../protocol/shim.ts";
import { EFBIG } from "../system/errno.ts";
import { systemError } from "../system/system-error.ts";

/** A component's file as the shim found it. */
export interface ComponentFile {
  readonly path: string;
  /** `dev:ino:size:mtime-ns:ctime-ns` (host/shim/PROTOCOL.md). */
  readonly identity: string;
}

/** Names the content of component files, so that an admitted component is found again without a new admission. */
export interface ComponentFileNames {
  /** The name of the file's content; undefined if the content is unknown until the file is read. */
  readonly known: (file: ComponentFile) => string | undefined;
  /** The name of `bytes`, the file's content. The file was read after the shim had found it with this identity. */
  readonly learn: (file: ComponentFile, bytes: Uint8Array) => string;
}

/** Names for the one-shot engine: path and identity. The engine reads each file at most once, so a hash of the content has no use. */
export const namedByFile: ComponentFileNames = {
  known: ({ path, identity }) => `${path}:${identity}`,
  learn: ({ path, identity }) => `${path}:${identity}`,
};

/** Reads a component of at most `maxBytes` through the shim. Fault COMPONENT_REFUSED. */
export async function readComponentFile(shim: Shim, path: string, maxBytes: number): Promise<Result<Uint8Array>> {
  const { errno, content } = await shim.read({ path, cap: maxBytes });
  if (errno === 0) return ok(content);
  const limit = errno === EFBIG ? ` (${componentLimit(maxBytes)})` : "";
  const why = `component ${path} could not be read: ${systemError(errno)}${limit}`;
  return failed(fault("COMPONENT_REFUSED", why));
}
