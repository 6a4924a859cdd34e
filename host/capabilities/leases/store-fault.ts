// The faults of the lease store. Each names the path and the reason.

import { fault, type Fault } from "../../../src/fault/fault.ts";
import { systemError } from "../../system/system-error.ts";

/** The fault of a failed system call on `path`: STORE_FAILED. `errno` is positive, as in the kernel's headers. */
export function storeFailed(call: string, path: string, errno: number): Fault {
  return fault("STORE_FAILED", `leases: cannot ${call} ${path}: ${systemError(errno)}`);
}

/** The fault of an exception: STORE_FAILED for an error of node:fs, otherwise INTERNAL. */
export function fromException(path: string, error: unknown): Fault {
  if (isSystemError(error)) return storeFailed(error.syscall ?? "use", error.path ?? path, Math.abs(error.errno));
  return fault("INTERNAL", `leases: ${path}: ${error instanceof Error ? error.message : String(error)}`);
}

/** The fault of a lock that stayed held for `deadlineMs` milliseconds. */
export function storeBusy(lock: string, deadlineMs: number): Fault {
  return fault("STORE_BUSY", `leases: ${lock} was held by another process for more than ${deadlineMs} ms`);
}

/** The fault of a path that is not a plain directory. `what` continues a sentence that begins with the path. */
export function storeUnsafe(path: string, what: string): Fault {
  return fault("STORE_UNSAFE", `leases: ${path} ${what}`);
}

/** An error of a system call, as node:fs throws it. */
export interface SystemError extends Error {
  readonly code: string;
  readonly errno: number;
  readonly syscall?: string;
  readonly path?: string;
}

/** The error of a system call that Node lacks, in the form of node:fs. `errno` is positive. */
export function systemCallError(syscall: string, path: string, errno: number): SystemError {
  const [code = "UNKNOWN"] = systemError(errno).split(",");
  return Object.assign(new Error(`${code}: ${syscall} ${path}`), { code, errno: -errno, syscall, path });
}

/** Whether this is an error of a system call. */
function isSystemError(error: unknown): error is SystemError {
  return (
    error instanceof Error &&
    "code" in error &&
    typeof error.code === "string" &&
    "errno" in error &&
    typeof error.errno === "number"
  );
}

/** Whether this is the system call's error `code`, e.g. "ENOENT". */
export function hasCode(error: unknown, code: string): boolean {
  return isSystemError(error) && error.code === code;
}
