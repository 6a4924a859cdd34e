// A pod's table in the kernel: replaced as a whole, or changed in its sets' elements. Both are one batch: no packet meets a table that is half made.

import type { Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { type EncodedBatch, encodeBatch, type NetlinkShim, refusalFault } from "../../../host/capabilities/firewall/kernel.ts";
import type { Table } from "../../../host/capabilities/firewall/nf-request.ts";
import { deleteTable, newTable } from "../../../host/capabilities/firewall/nf-tables.ts";
import { EEXIST, ENOENT, EPERM } from "../../../host/system/errno.ts";
import { RecentValues } from "../../../host/node/running-pods/recent-values.ts";
import type { PolicyTable } from "../rules/table.ts";
import { changeRequests, send, tableRequests, type TableRefusal } from "./table-messages.ts";

/** The table of Plexus in a pod's network namespace. Other tables stay as they are. */
export const podTable = { family: "inet", name: "plexus-policies" } as const satisfies Table;

const writing = "writing the pod's policies";

/** Batches that several pods need: each is encoded once. The size is in bytes. */
const [maxValues, maxSize] = [8, 4 * 1024 * 1024];
const sizeOf = (batch: EncodedBatch | undefined): number => batch?.bytes.length ?? 0;
const wholeTables = new RecentValues<EncodedBatch>(maxValues, maxSize, sizeOf);
/** Undefined: the tables differ in more than elements. */
const changes = new RecentValues<EncodedBatch | undefined>(maxValues, maxSize, sizeOf);

/** Making the table first lets the removal succeed where there is none. */
const removal = [newTable(podTable), deleteTable(podTable)];

/** The batch of a whole table. `first`: the pod has none yet. */
function wholeTable(first: boolean, table: PolicyTable): EncodedBatch {
  return wholeTables.of(first ? "first" : "again", [table], () =>
    encodeBatch([...(first ? [newTable(podTable, true)] : removal), newTable(podTable), ...tableRequests(podTable, table)]),
  );
}

/** Makes the table of a pod that has none yet, without a removal: the kernel waits for an RCU grace period after each. Replaces a table that is there. Fault: FIREWALL_FAILED. */
export async function makeTable(shim: NetlinkShim, path: string, table: PolicyTable): Promise<Result<void>> {
  const refused = await send(shim, path, wholeTable(true, table), writing);
  if (!refused.ok || refused.value === undefined) return refused.ok ? ok(undefined) : refused;
  return refused.value.errno === EEXIST ? replaceTable(shim, path, table) : failed(ownedFault(refused.value));
}

/** The kernel refuses each change of a table that a process owns. Without the right to change tables the kernel refuses the batch as a whole. */
function ownedFault(refusal: TableRefusal): Fault {
  const refused = refusalFault(refusal);
  if (refusal.errno !== EPERM || refusal.change === undefined) return refused;
  return { ...refused, msg: `${refused.msg}: a process of the pod owns the table ${podTable.family} ${podTable.name}` };
}

/** Makes the table in place of an earlier one; undefined: removes it. Fault: FIREWALL_FAILED. */
export async function replaceTable(shim: NetlinkShim, path: string, table: PolicyTable | undefined): Promise<Result<void>> {
  const refused = await send(shim, path, table === undefined ? encodeBatch(removal) : wholeTable(false, table), writing);
  if (!refused.ok) return refused;
  return refused.value === undefined ? ok(undefined) : failed(ownedFault(refused.value));
}

/**
 * Brings the table from one form to another: elements alone if the shapes are equal, else the whole table. The whole table is made, too, if the kernel
 * lacks an element or the table: the pod has changed it. Fault: FIREWALL_FAILED.
 */
export async function changeTable(
  shim: NetlinkShim,
  path: string,
  before: PolicyTable | undefined,
  after: PolicyTable | undefined,
): Promise<Result<void>> {
  if (before !== undefined && before === after) return ok(undefined);
  if (before === undefined || after === undefined) return replaceTable(shim, path, after);
  const batch = changes.of("", [before, after], () => {
    const requests = changeRequests(podTable, before, after);
    return requests && encodeBatch(requests);
  });
  if (batch === undefined) return replaceTable(shim, path, after);
  if (batch.changes === 0) return ok(undefined);
  const refused = await send(shim, path, batch, "changing the peers of the pod's policies");
  if (!refused.ok || refused.value === undefined) return refused.ok ? ok(undefined) : refused;
  return refused.value.errno === ENOENT ? replaceTable(shim, path, after) : failed(ownedFault(refused.value));
}
