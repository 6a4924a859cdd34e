// Frees the leases of a container of which neither journal nor cache knows an attachment: an earlier DEL skipped the IPAM plugin, or the journal was
// lost. A runtime repeats its DEL until it removes the container, at last with an empty CNI_NETNS.

import type { Result } from "../../../src/fault/result.ts";
import { runAsync } from "../../capabilities/leases/effect.ts";
import { leasesOfContainer, removeOrphaned } from "../../capabilities/leases/orphaned-leases.ts";
import { LeaseDirectories } from "../../store/files/lease-directories.ts";
import type { Call } from "../call.ts";

/** Maximum milliseconds to wait for another process's lock. */
const lockDeadlineMs = 1000;

/**
 * Frees the container's leases in all directories that networks of this node have used. Only if the container's namespace is gone: no link can have
 * the addresses then. Best effort, because the runtime must not keep the sandbox for them: the rounds report what stays.
 */
export async function freeUnrecorded(call: Call): Promise<void> {
  const { request, configuration, takeLock, warn } = call;
  if (hasOtherRecords(call) || !(await call.namespaceIsGone(request.netns))) return;
  for (const directory of new LeaseDirectories(configuration.cniDir).all) {
    const leases = await leasesOfContainer(directory, request.containerId);
    if (leases.length === 0) continue;
    const freed = await runAsync(removeOrphaned(leases, lockDeadlineMs), takeLock);
    warn(
      `container ${request.containerId} is in no journal and its namespace is gone, but it has leases in ${directory}: ${outcomeOf(freed)}`,
    );
  }
}

function outcomeOf(freed: Result<number>): string {
  return freed.ok ? `${freed.value} were freed` : `not freed: ${freed.fault.msg}`;
}

/** Whether another call has a record of the container: that call's DEL frees what its attachments have. */
function hasOtherRecords({ journal, abandoned, request }: Call): boolean {
  const keys = journal.list();
  const files = abandoned.list();
  if (!keys.ok || !files.ok) return true;
  return [...keys.value, ...files.value.map(({ key }) => key)].some(({ containerId }) => containerId === request.containerId);
}
