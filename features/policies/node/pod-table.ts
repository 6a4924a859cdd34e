// A pod's table in the kernel: replaced as a whole, or changed in its sets' elements. Both are one batch: no packet meets a table that is half made.

import type { Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { type NetlinkShim, type Refusal, refusalFault } from "../../../host/capabilities/firewall/kernel.ts";
import type { Table } from "../../../host/capabilities/firewall/nf-request.ts";
import { deleteTable, newTable } from "../../../host/capabilities/firewall/nf-tables.ts";
import { EEXIST, ENOENT, EPERM } from "../../../host/system/errno.ts";
import { RecentValues } from "../../../host/node/running-pods/recent-values.ts";
import type { NetlinkRequest } from "../../../host/system/netlink/message.ts";
import type { PolicyTable } from "../rules/table.ts";
import { changeRequests, send, tableRequests } from "./table-messages.ts";

/** The table of Plexus in a pod's network namespace. Other tables stay as they are. */
export const podTable = { family: "inet", name: "plexus-policies" } as const satisfies Table;

const writing = "writing the pod's policies";

/** Requests that several pods need: each is encoded once. The size is that of the messages in bytes. */
const [maxValues, maxSize] = [8, 4 * 1024 * 1024];
const sizeOf = (requests: readonly NetlinkRequest[] = []): number => requests.reduce((sum, { body }) => sum + body.length, 0);
const wholeTables = new RecentValues<readonly NetlinkRequest[]>(maxValues, maxSize, sizeOf);
/** Undefined: the tables differ in more than elements. */
const changes = new RecentValues<readonly NetlinkRequest[] | undefined>(maxValues, maxSize, sizeOf);

/** Makes the table of a pod that has none yet, without a removal: the kernel waits for an RCU grace period after each. Replaces a table that is there. Fault: FIREWALL_FAILED. */
export async function makeTable(shim: NetlinkShim, path: string, table: PolicyTable): Promise<Result<void>> {
  const requests = wholeTables.of("", [table], () => [newTable(podTable), ...tableRequests(podTable, table)]);
  const refused = await send(shim, path, [newTable(podTable, true), ...requests], writing);
  if (!refused.ok || refused.value === undefined) return refused.ok ? ok(undefined) : refused;
  return refused.value.errno === EEXIST ? replaceTable(shim, path, table) : failed(ownedFault(refused.value));
}

/** The kernel refuses each change of a table that a process owns. Without the right to change tables the kernel refuses the batch as a whole. */
function ownedFault(refusal: Refusal): Fault {
  const refused = refusalFault(refusal);
  if (refusal.errno !== EPERM || refusal.change === undefined) return refused;
  return { ...refused, msg: `${refused.msg}: a process of the pod owns the table ${podTable.family} ${podTable.name}` };
}

/** Makes the table in place of an earlier one; undefined: removes it. Fault: FIREWALL_FAILED. */
export async function replaceTable(shim: NetlinkShim, path: string, table: PolicyTable | undefined): Promise<Result<void>> {
  // Making the table first lets the removal succeed where there is none.
  const removal = [newTable(podTable), deleteTable(podTable)];
  const requests =
    table === undefined
      ? removal
      : [...removal, ...wholeTables.of("", [table], () => [newTable(podTable), ...tableRequests(podTable, table)])];
  const refused = await send(shim, path, requests, writing);
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
  const requests = changes.of("", [before, after], () => changeRequests(podTable, before, after));
  if (requests === undefined) return replaceTable(shim, path, after);
  if (requests.length === 0) return ok(undefined);
  const refused = await send(shim, path, requests, "changing the peers of the pod's policies");
  if (!refused.ok || refused.value === undefined) return refused.ok ? ok(undefined) : refused;
  return refused.value.errno === ENOENT ? replaceTable(shim, path, after) : failed(ownedFault(refused.value));
}
