// Leases whose attachment no journal has. Their files are removed under host-local's lock, after another look at their content.

import { lstatSync, readdirSync } from "node:fs";
import { dirname } from "node:path";
import { ok, type Result } from "../../../src/fault/result.ts";
import { readAddress } from "../../../src/net/ip.ts";
import type { Lease } from "../../../src/reconcile/lease-owners.ts";
import { inTurns } from "../../system/in-turns.ts";
import { type LeaseOperation, underLock } from "./effect.ts";
import { LeaseReader, removeIfPresent } from "./lease-file.ts";
import { fromException } from "./store-fault.ts";

/** A lease file with its owner. */
export type OwnedLease = Pick<Lease, "path" | "containerId"> & Partial<Pick<Lease, "writtenAt">>;

/** Maximum files of one directory that are read. */
const maxFiles = 8192;

/** The container's leases in a directory, of all its interfaces; none if this process can't read the directory. */
export async function leasesOfContainer(directory: string, containerId: string): Promise<readonly OwnedLease[]> {
  const reader = new LeaseReader();
  const found: OwnedLease[] = [];
  for await (const name of inTurns(addressesIn(directory))) {
    const path = `${directory}/${name}`;
    if (ownerIn(reader, path) === containerId) found.push({ path, containerId });
  }
  return found;
}

/**
 * Removes those of the leases of one directory that are still the same, and answers their number. Another container may have got the address since
 * they were read. Faults: STORE_BUSY, STORE_FAILED.
 */
export function* removeOrphaned(leases: readonly OwnedLease[], lockDeadlineMs: number): LeaseOperation<Result<number>> {
  const [first] = leases;
  if (first === undefined) return ok(0);
  return yield* underLock(`${dirname(first.path)}/lock`, lockDeadlineMs, () => {
    const reader = new LeaseReader();
    let removed = 0;
    for (const { path, containerId, writtenAt } of leases) {
      try {
        const isSame = writtenAt === undefined || lstatSync(path, { throwIfNoEntry: false })?.mtimeMs === writtenAt;
        if (isSame && ownerIn(reader, path) === containerId && removeIfPresent(path)) removed++;
      } catch (error) {
        return { ok: false, fault: fromException(path, error) };
      }
    }
    return ok(removed);
  });
}

function addressesIn(directory: string): readonly string[] {
  try {
    const names = readdirSync(directory).filter((name) => readAddress(name) !== undefined);
    return names.slice(0, maxFiles);
  } catch {
    return [];
  }
}

/** The container of a lease; undefined if there is none, or if it can't be read. */
function ownerIn(reader: LeaseReader, path: string): string | undefined {
  try {
    return reader.read(path)?.trim().split(/\r?\n/u)[0];
  } catch {
    return undefined;
  }
}
