// Removes lease files under the lock that native host-local takes. Loaded only if a lease remains after the DEL of its IPAM plugin, or an ADD failed.

import type { Attachment } from "../../../src/cni/attachment.ts";
import type { NetworkList } from "../../../src/cni/network-list.ts";
import { grantsFor } from "../../../src/configuration/definition-policy.ts";
import { defaultLeaseDirectory } from "../../../src/configuration/keys/grant-keys.ts";
import { type Result, ok } from "../../../src/fault/result.ts";
import type { LeasePlace } from "../../../src/reconcile/lease-places.ts";
import * as disk from "../../capabilities/leases/disk.ts";
import { runAsync } from "../../capabilities/leases/effect.ts";
import { type LeaseDirectory, directoryExists } from "../../capabilities/leases/lease-file.ts";
import { ownerlessLeases, removeOwnerless } from "../../capabilities/leases/ownerless.ts";
import { poolDirectory } from "../../capabilities/leases/scope.ts";
import type { JournalEntry, PlannedAttachment } from "../../store/journal/entry.ts";
import type { Call } from "../call.ts";

/** Maximum milliseconds to wait for another process's lock. */
const lockDeadlineMs = 10_000;

/** Removes the attachment's leases of one place. Faults: DIRECTORY_NOT_ALLOWED, STORE_BUSY, STORE_FAILED, STORE_UNSAFE. */
export async function releaseLeases(
  call: Call,
  undone: UndoneAttachment,
  ipam: string,
  place: LeasePlace,
): Promise<Result<void>> {
  const directory = directoryOf(call, undone, ipam, place);
  if (!directory.ok) return directory;
  const { containerId, ifname } = undone.attachment;
  const owner = { containerId, ifname, ...(place.pool === undefined ? {} : { network: undone.list.name }) };
  const pool = { directory: directory.value, set: 0, lockDeadlineMs: maxWaitMs(call) };
  const released = await runAsync(disk.release(pool, owner), call.takeLock);
  return released.ok ? ok(undefined) : released;
}

/** Removes the leases of one place that have no owner, and answers their number. Faults as those of `releaseLeases`. */
export async function releaseOwnerless(
  call: Call,
  undone: UndoneAttachment,
  ipam: string,
  place: LeasePlace,
): Promise<Result<number>> {
  const directory = directoryOf(call, undone, ipam, place);
  if (!directory.ok) return directory;
  const exists = directoryExists(directory.value);
  if (!exists.ok || !exists.value) return exists.ok ? ok(0) : exists;
  return runAsync(removeOwnerless(ownerlessLeases(directory.value.path), maxWaitMs(call)), call.takeLock);
}

function maxWaitMs({ deadline }: Call): number {
  return Math.min(lockDeadlineMs, Math.floor(deadline.stepMs));
}

/** The directory of a place. That of a bound definition needs a grant, as for a component: the definition's author wrote the path. */
function directoryOf(
  { configuration }: Call,
  { planned: { definition }, list }: UndoneAttachment,
  ipam: string,
  { root, dataDir, pool }: LeasePlace,
): Result<LeaseDirectory> {
  const granted = grantsFor(configuration, definition, ipam).leases?.directories ?? [];
  const scope = {
    network: list.name,
    verb: "del",
    defaultDirectory: defaultLeaseDirectory,
    allowedDirectories: definition === undefined ? [...granted, root] : granted,
    ...(pool === undefined ? {} : { pool: { name: pool, root } }),
  } as const;
  return poolDirectory(scope, pool === undefined ? (dataDir ?? root) : undefined);
}

/** An attachment whose plugins' DEL succeeded. */
export interface UndoneAttachment {
  readonly entry: JournalEntry;
  readonly planned: PlannedAttachment;
  readonly list: NetworkList;
  /** The attachment's final result, if known. */
  readonly result: string | undefined;
  /** The attachment as its plugins' DEL named it. */
  readonly attachment: Attachment;
  /** Whether the network namespace is gone. */
  readonly isGone: () => Promise<boolean>;
}
