// Makes, awaits and removes ports of Open vSwitch. Each change is one transaction that holds only if its preconditions still do.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import { hasMarks, markedOwner } from "../../../src/ovsdb/owner-marks.ts";
import type { PortRequest } from "../../../src/ovsdb/port-request.ts";
import { hasVlans } from "../../../src/ovsdb/port-vlans.ts";
import {
  addPortOperations,
  readInterface,
  readNamed,
  removePortOperations,
  selectBridges,
  selectInterface,
  settleOperations,
} from "../../../src/ovsdb/port-operations.ts";
import type { Database } from "./database.ts";
import { findPorts, type FoundPort, refusal, type Refused, rowsOf } from "./find-ports.ts";

/** `external_ids` by which an owner's ports are known. */
export type Marks = readonly (readonly [string, string])[];

/** The `external_ids` of a port besides the marks. */
export const idKeys = { interfaceId: "iface-id", mac: "attached-mac", status: "iface-status" } as const;

/** Attempts of a transaction whose preconditions another client changes meanwhile. */
const maxAttempts = 3;
/** The error of a `wait` whose condition does not hold (RFC 7047 section 5.2.6). */
const conditionFailed = "timed out";
/** Maximum number of ports in one transaction. */
const maxTogether = 200;

/** Makes a port, unless the owner has it. Faults: OVS_BRIDGE_MISSING, OVS_PORT_CONFLICT, OVS_FAILED, OVS_UNAVAILABLE. */
export async function addPort(database: Database, request: PortRequest, marks: Marks): Promise<Result<undefined>> {
  const { bridge, link, interfaceId, mac, number } = request;
  for (let attempt = 1; ; attempt++) {
    const existing = await findPorts(database, selectInterface(link));
    if (!existing.ok) return existing;
    const [found] = existing.value;
    if (found !== undefined) return isRequested(found, request, marks) ? ok(undefined) : failed(conflict(found, link));
    const bridges = await rowsOf(database, [selectBridges(bridge)], readNamed);
    if (!bridges.ok) return bridges;
    const row = bridges.value[0]?.[0];
    if (row === undefined) return failed(fault("OVS_BRIDGE_MISSING", `ovs: Open vSwitch has no bridge ${quote(bridge, 40)}`));
    const known: Marks =
      interfaceId === ""
        ? []
        : [
            [idKeys.interfaceId, interfaceId],
            [idKeys.status, "active"],
          ];
    const externalIds: Marks = [...known, [idKeys.mac, mac], ...marks];
    const outcome = await database.transact(addPortOperations({ bridge: row, link, externalIds, vlans: request, number }));
    if (!outcome.ok) return outcome;
    if (outcome.value.kind === "done") return ok(undefined);
    if (outcome.value.error !== conditionFailed) {
      return failed(refusal(`port ${quote(link, 40)} of bridge ${quote(bridge, 40)}`, outcome.value));
    }
    // No interface has the name, and the bridge exists: only a bond can have the name again and again.
    if (attempt === maxAttempts) {
      return failed(fault("OVS_PORT_CONFLICT", `ovs: a port with other interfaces already has the name ${quote(link, 40)}`));
    }
  }
}

function isRequested({ interface: row, port, bridge }: FoundPort, request: PortRequest, marks: Marks): boolean {
  const { externalIds, requestedNumber } = row;
  return (
    hasMarks(externalIds, marks) &&
    bridge.name === request.bridge &&
    (externalIds.get(idKeys.interfaceId) ?? "") === request.interfaceId &&
    externalIds.get(idKeys.mac) === request.mac &&
    (request.number === undefined || request.number === requestedNumber) &&
    hasVlans(port, request)
  );
}

function conflict({ interface: { externalIds }, bridge }: FoundPort, link: string) {
  const owner = markedOwner(externalIds);
  const ofOwner = owner === undefined ? "which Plexus did not make" : `which belongs to ${quote(owner)}`;
  const id = externalIds.get(idKeys.interfaceId);
  const withId = id === undefined ? "" : ` with interface ID ${quote(id, 60)}`;
  const why = `bridge ${quote(bridge.name, 40)} already has a port ${quote(link, 40)}${withId}, ${ofOwner}`;
  return fault("OVS_PORT_CONFLICT", `ovs: ${why}`);
}

/**
 * Waits until ovs-vswitchd has taken the port of a link, for at most `timeoutMs` milliseconds. Undefined: there is no port with the marks.
 * Faults: OVS_FAILED if ovs-vswitchd refuses the port or does not answer in time; OVS_UNAVAILABLE.
 */
export async function settlePort(
  database: Database,
  link: string,
  marks: Marks,
  timeoutMs: number,
): Promise<Result<FoundPort | undefined>> {
  const found = await ownedPort(database, link, marks);
  if (!found.ok || found.value === undefined) return found;
  const outcome = await database.transact(settleOperations(found.value.interface.id, timeoutMs));
  if (!outcome.ok) return outcome;
  const port = `port ${quote(link, 40)} of bridge ${quote(found.value.bridge.name, 40)}`;
  if (outcome.value.kind === "refused") {
    if (outcome.value.error !== conditionFailed) return failed(refusal(port, outcome.value));
    return failed(fault("OVS_FAILED", `ovs: ovs-vswitchd has not taken ${port} within ${timeoutMs} ms`));
  }
  const row = outcome.value.rows[1]?.[0];
  const settled = row === undefined ? undefined : readInterface(row);
  if (settled === undefined) return ok(undefined);
  if (settled.error !== undefined || (settled.number ?? -1) < 0) {
    const reason = settled.error === undefined ? "without a reason" : quote(settled.error);
    return failed(fault("OVS_FAILED", `ovs: ovs-vswitchd cannot take ${port}: ${reason}`));
  }
  return ok({ ...found.value, interface: settled });
}

/** The port of a link, if it has the marks. Faults: OVS_FAILED, OVS_UNAVAILABLE. */
export async function ownedPort(database: Database, link: string, marks: Marks): Promise<Result<FoundPort | undefined>> {
  const found = await findPorts(database, selectInterface(link));
  return found.ok ? ok(found.value.find((each) => hasMarks(each.interface.externalIds, marks))) : found;
}

/**
 * Removes the ports that `find` answers, and answers their number. A port that loses the marks meanwhile is not removed. Faults: OVS_FAILED,
 * OVS_UNAVAILABLE.
 */
export async function removePorts(
  database: Database,
  marks: Marks,
  find: () => Promise<Result<readonly FoundPort[]>>,
): Promise<Result<number>> {
  let removed = 0;
  for (let attempt = 1; ; attempt++) {
    const found = await find();
    if (!found.ok) return found;
    const outcome = await removeFound(database, marks, found.value);
    if (!outcome.ok) return outcome;
    removed += outcome.value.removed;
    const { refused } = outcome.value;
    if (refused === undefined) return ok(removed);
    if (refused.error !== conditionFailed || attempt === maxAttempts) return failed(refusal("the removal of ports", refused));
  }
}

/** Removes ports until a transaction is refused. */
async function removeFound(
  database: Database,
  marks: Marks,
  found: readonly FoundPort[],
): Promise<Result<{ readonly removed: number; readonly refused?: Refused }>> {
  for (let at = 0; at < found.length; at += maxTogether) {
    const ports = found.slice(at, at + maxTogether).map((each) => ({
      interfaceId: each.interface.id,
      portId: each.port.id,
      name: each.interface.name,
    }));
    const outcome = await database.transact(removePortOperations(ports, marks));
    if (!outcome.ok) return outcome;
    if (outcome.value.kind === "refused") return ok({ removed: at, refused: outcome.value });
  }
  return ok({ removed: found.length });
}
