// The capability `resolver`: reads a resolv.conf that the administrator lists. A delegate gets the settings only, not the text.

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { defaultResolverFiles } from "../../../src/configuration/keys/grant-keys.ts";
import { fault } from "../../../src/fault/fault.ts";
import type { ResolverCapability } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { refuse } from "../outcome.ts";
import { parseResolvConf } from "./resolv-conf.ts";

/** Maximum bytes of the file. A resolv.conf has some hundred bytes. */
const MAX_BYTES = 65_536;

/** The grant of one delegate. */
export interface ResolverScope {
  /** Absolute paths of files. A listed file may be a symbolic link, because the administrator is trusted. */
  readonly allowedFiles?: readonly string[];
}

/** The capability for the delegate of one call. */
export function resolverFor(scope: ResolverScope): ResolverCapability {
  const allowed = (scope.allowedFiles ?? defaultResolverFiles).map((path) => resolve(path));
  return {
    read(path) {
      if (!isAbsolute(path) || !allowed.includes(resolve(path))) {
        const why = `resolver: ipam.resolvConf ${JSON.stringify(path)} is not an allowed file; allowed: ${allowed.join(", ")}`;
        return refuse(fault("DIRECTORY_NOT_ALLOWED", why));
      }
      try {
        return { ok: parseResolvConf(readBounded(resolve(path))) };
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        return refuse(fault("STORE_FAILED", `resolver: cannot read ${path}: ${why}`));
      }
    },
  };
}

/** The text of a regular file. Opening does not block on a FIFO, and a device is not read. */
function readBounded(path: string): string {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(descriptor).isFile()) throw new Error("it is not a regular file");
    const buffer = Buffer.allocUnsafe(MAX_BYTES + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < buffer.length; length += read) {
      read = readSync(descriptor, buffer, length, buffer.length - length, null);
    }
    if (length > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
    return buffer.toString("utf8", 0, length);
  } finally {
    closeSync(descriptor);
  }
}
