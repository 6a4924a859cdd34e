// The capability `resolver`: reads a resolv.conf that the administrator listed, and gives its settings, not its text.

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { defaultResolverFiles } from "../../src/configuration/wasm-configuration.ts";
import { fault, type Fault } from "../../src/fault/fault.ts";
import type { ResolverCapability } from "../sandbox/abi/generated/delegate-0.1.0.ts";
import { parseResolvConf } from "./resolv-conf.ts";

/** A resolv.conf has some hundred bytes; more than this is another file. */
const MAX_BYTES = 65_536;

/** What a call may read. */
export interface ResolverScope {
  /** Absolute paths, each exactly one file; it may be a symbolic link, which the administrator vouches for. */
  readonly allowedFiles?: readonly string[];
}

/** The capability as the delegate of one call gets it. */
export function resolverFor(scope: ResolverScope): ResolverCapability {
  const allowed = (scope.allowedFiles ?? defaultResolverFiles).map((path) => resolve(path));
  return {
    read(path) {
      if (!isAbsolute(path) || !allowed.includes(resolve(path))) {
        const what = `resolver: ipam.resolvConf ${JSON.stringify(path)} is not an allowed file; allowed: ${allowed.join(", ")}`;
        return refuse(fault("DIRECTORY_NOT_ALLOWED", what));
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

/** The text of a regular file. Doesn't wait on a FIFO, doesn't read a device. */
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

function refuse(why: Fault): ReturnType<ResolverCapability["read"]> {
  return { err: { code: why.code, msg: why.msg, details: why.details } };
}
