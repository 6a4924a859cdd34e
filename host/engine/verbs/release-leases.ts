// Removes an attachment's lease files under the lock that native host-local takes. Loaded only if a lease remains after the DEL of its IPAM plugin.

import { grantsFor } from "../../../src/configuration/definition-policy.ts";
import { defaultLeaseDirectory } from "../../../src/configuration/wasm-configuration.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import type { LeasePlace } from "../../../src/reconcile/lease-places.ts";
import * as disk from "../../capabilities/leases/disk.ts";
import { runAsync } from "../../capabilities/leases/effect.ts";
import { poolDirectory } from "../../capabilities/leases/scope.ts";
import type { CallContext } from "../call/call-context.ts";
import type { UndoneAttachment } from "./free-leases.ts";

/** Maximum milliseconds to wait for another process's lock. */
const lockDeadlineMs = 10_000;

/**
 * Removes the attachment's leases of one place. A bound definition's directory needs a grant, as for a component: its author wrote the path. Faults:
 * DIRECTORY_NOT_ALLOWED, STORE_BUSY, STORE_FAILED, STORE_UNSAFE.
 */
export async function releaseLeases(
  { configuration, takeLock, deadline }: CallContext,
  { attachment, planned: { definition }, list }: UndoneAttachment,
  ipam: string,
  { root, dataDir, pool }: LeasePlace,
): Promise<Result<void>> {
  const { containerId, ifname } = attachment;
  const granted = grantsFor(configuration, definition, ipam).leases?.directories ?? [];
  const scope = {
    network: list.name,
    verb: "del",
    defaultDirectory: defaultLeaseDirectory,
    allowedDirectories: definition === undefined ? [...granted, root] : granted,
    ...(pool === undefined ? {} : { pool: { name: pool, root } }),
  } as const;
  const directory = poolDirectory(scope, pool === undefined ? (dataDir ?? root) : undefined);
  if (!directory.ok) return directory;
  const owner = { containerId, ifname, ...(pool === undefined ? {} : { network: list.name }) };
  const waitMs = Math.min(lockDeadlineMs, Math.floor(deadline.stepMs));
  const released = await runAsync(disk.release({ directory: directory.value, set: 0, lockDeadlineMs: waitMs }, owner), takeLock);
  return released.ok ? ok(undefined) : released;
}
