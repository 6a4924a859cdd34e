// Faults of the lease store: each names the path, the system's reason and what follows from it.

import { getSystemErrorMap } from "node:util";
import { fault, type Fault } from "../../src/fault/fault.ts";

/** What `call` on `path` failed with. `errno` is positive, as the kernel's headers have it. */
export function storeFailed(call: string, path: string, errno: number): Fault {
  const known = getSystemErrorMap().get(-errno);
  const reason = known === undefined ? `errno ${errno}` : `${known[0]}, ${known[1]}`;
  return fault("STORE_FAILED", `leases: cannot ${call} ${path}: ${reason}`);
}

/** The same from an exception of node:fs; anything else is a defect. */
export function fromException(path: string, error: unknown): Fault {
  if (isSystemError(error)) return storeFailed(error.syscall ?? "use", error.path ?? path, Math.abs(error.errno));
  return fault("INTERNAL", `leases: ${path}: ${error instanceof Error ? error.message : String(error)}`);
}

export function storeBusy(lock: string, deadlineMs: number): Fault {
  return fault("STORE_BUSY", `leases: ${lock} was held by another process for more than ${deadlineMs} ms`);
}

export function storeUnsafe(path: string, what: string): Fault {
  return fault("STORE_UNSAFE", `leases: ${path} ${what}`);
}

export function misused(what: string): Fault {
  return fault("CAPABILITY_MISUSED", `leases: ${what}`);
}

export interface SystemError extends Error {
  readonly code: string;
  readonly errno: number;
  readonly syscall?: string;
  readonly path?: string;
}

/** Whether this is an error of a system call, as node:fs throws it. */
export function isSystemError(error: unknown): error is SystemError {
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
