// Leases without an owner: the files exist, and their content was lost. A power loss leaves such files, because host-local does not sync them, and
// so does a host-local that was killed between creating a file and writing it. No DEL of an attachment releases them.

import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { ok, type Result } from "../../../src/fault/result.ts";
import { readAddress } from "../../../src/net/ip.ts";
import { type LeaseOperation, underLock } from "./effect.ts";
import { isOwnerless, LeaseReader, removeIfPresent } from "./lease-file.ts";
import { fromException } from "./store-fault.ts";

/** The paths of a directory's leases without an owner; none if the directory can't be read. */
export function ownerlessLeases(directory: string): readonly string[] {
  const reader = new LeaseReader();
  try {
    const paths = readdirSync(directory).flatMap((name) => (readAddress(name) === undefined ? [] : [`${directory}/${name}`]));
    return paths.filter((path) => isLost(contentOf(reader, path)));
  } catch {
    return [];
  }
}

/** The lease's content; undefined if this one cannot be read, which says nothing about the others. */
function contentOf(reader: LeaseReader, path: string): string | undefined {
  try {
    return reader.read(path);
  } catch {
    return undefined;
  }
}

/**
 * Removes those of the leases of one directory that have no owner, and answers their number. The lock is host-local's own, and host-local writes a lease's
 * content before it releases the lock: such a lease belongs to no attachment. Faults: STORE_BUSY, STORE_FAILED.
 */
export function* removeOwnerless(paths: readonly string[], lockDeadlineMs: number): LeaseOperation<Result<number>> {
  const [first] = paths;
  if (first === undefined) return ok(0);
  return yield* underLock(`${dirname(first)}/lock`, lockDeadlineMs, () => {
    const reader = new LeaseReader();
    let removed = 0;
    for (const path of paths) {
      try {
        if (isLost(reader.read(path)) && removeIfPresent(path)) removed++;
      } catch (error) {
        return { ok: false, fault: fromException(path, error) };
      }
    }
    return ok(removed);
  });
}

function isLost(content: string | undefined): boolean {
  return content !== undefined && isOwnerless(content);
}
