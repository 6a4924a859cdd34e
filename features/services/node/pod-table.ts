// A pod's table of Services in the kernel, replaced as a whole in one batch: no packet meets a table that is half made. Connections keep the endpoint that
// they have.

import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { commit, type Change, type NetlinkShim, type Refusal, refusalFault } from "../../../host/capabilities/firewall/kernel.ts";
import { deleteTable, newTable } from "../../../host/capabilities/firewall/nf-tables.ts";
import { EEXIST } from "../../../host/system/errno.ts";
import type { NetlinkRequest } from "../../../host/system/netlink/message.ts";
import type { BalancedPort } from "../rules/balance.ts";
import { keptDestinations, podTable } from "./kept-destinations.ts";
import { tableRequests } from "./table-requests.ts";

/**
 * Makes the table in place of an earlier one; without ports, removes it. `isFirst`: the pod has no table as far as is known, so that the first try removes none:
 * the kernel waits for an RCU grace period after each removal. Fault: FIREWALL_FAILED.
 */
export async function replaceTable(
  shim: NetlinkShim,
  path: string,
  ports: readonly BalancedPort[],
  isFirst = false,
): Promise<Result<void>> {
  const refuses = async (requests: readonly NetlinkRequest[]): Promise<Result<Refusal | undefined>> => {
    const changes = requests.map((request): Change => ({ request, action: "writing the pod's Services" }));
    const refusals = await commit(shim, changes, "commit", path);
    return refusals.ok ? ok(refusals.value[0]) : refusals;
  };
  if (isFirst && ports.length > 0) {
    const made = await refuses([newTable(podTable, true), ...tableRequests(ports, { 4: [], 6: [] })]);
    if (!made.ok || made.value === undefined) return made.ok ? ok(undefined) : made;
    if (made.value.errno !== EEXIST) return failed(refusalFault(made.value));
  }
  const kept = await keptDestinations(shim, path, ports);
  // Making the table first lets the removal succeed where there is none.
  const removal = [newTable(podTable), deleteTable(podTable)];
  const refused = await refuses(ports.length === 0 ? removal : [...removal, ...tableRequests(ports, kept)]);
  if (!refused.ok) return refused;
  return refused.value === undefined ? ok(undefined) : failed(refusalFault(refused.value));
}
