// Finds interfaces of Open vSwitch with their ports and bridges. Three questions to the database, each for all interfaces at once.

import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import type { Operation, Row, TransactionOutcome } from "../../../src/ovsdb/messages.ts";
import {
  type InterfaceRow,
  type NamedRow,
  type PortRow,
  readInterface,
  readNamed,
  readPort,
  selectBridgeOf,
  selectPortOf,
} from "../../../src/ovsdb/port-operations.ts";
import type { Database } from "./database.ts";

/** An interface with its port and its bridge. */
export interface FoundPort {
  readonly interface: InterfaceRow;
  readonly port: PortRow;
  readonly bridge: NamedRow;
}

/** A transaction that OVSDB aborted as a whole. */
export type Refused = Extract<TransactionOutcome, { kind: "refused" }>;

/** Maximum number of interfaces in one transaction. */
const maxTogether = 200;

/** The interfaces that `select` answers, each with its port and bridge. Faults: OVS_UNAVAILABLE, OVS_FAILED. */
export async function findPorts(database: Database, select: Operation): Promise<Result<readonly FoundPort[]>> {
  const interfaces = await rowsOf(database, [select], readInterface);
  if (!interfaces.ok) return interfaces;
  const found: FoundPort[] = [];
  const all = interfaces.value[0] ?? [];
  for (let at = 0; at < all.length; at += maxTogether) {
    const some = await withPorts(database, all.slice(at, at + maxTogether));
    if (!some.ok) return some;
    found.push(...some.value);
  }
  return ok(found);
}

async function withPorts(database: Database, interfaces: readonly InterfaceRow[]): Promise<Result<readonly FoundPort[]>> {
  const ports = await rowsOf(
    database,
    interfaces.map(({ id }) => selectPortOf(id)),
    readPort,
  );
  if (!ports.ok) return ports;
  const plugged = interfaces.flatMap((each, at) => {
    const port = ports.value[at]?.[0];
    return port === undefined ? [] : [{ interface: each, port }];
  });
  const bridges = await rowsOf(
    database,
    plugged.map(({ port }) => selectBridgeOf(port.id)),
    readNamed,
  );
  if (!bridges.ok) return bridges;
  return ok(
    plugged.flatMap((each, at) => {
      const bridge = bridges.value[at]?.[0];
      return bridge === undefined ? [] : [{ ...each, bridge }];
    }),
  );
}

/** The rows of each `select`, read by `read`. Faults: OVS_UNAVAILABLE, OVS_FAILED. */
export async function rowsOf<T>(
  database: Database,
  selects: readonly Operation[],
  read: (row: Row) => T | undefined,
): Promise<Result<readonly (readonly T[])[]>> {
  if (selects.length === 0) return ok([]);
  const outcome = await database.transact(selects);
  if (!outcome.ok) return outcome;
  if (outcome.value.kind === "refused") return failed(refusal("a question", outcome.value));
  const rows: (readonly T[])[] = [];
  for (const each of outcome.value.rows) {
    const readRows = each.map(read);
    if (readRows.includes(undefined)) {
      return failed(fault("OVS_UNAVAILABLE", "ovs: the database answers rows that the schema Open_vSwitch does not have"));
    }
    rows.push(readRows.filter((row) => row !== undefined));
  }
  return ok(rows);
}

/** The fault OVS_FAILED of a refused transaction. `what`: the transaction for the message. */
export function refusal(what: string, { error, details }: Refused): Fault {
  const reason = details === "" ? quote(error) : `${quote(error)}: ${quote(details)}`;
  return fault("OVS_FAILED", `ovs: Open vSwitch refuses ${what}: ${reason}`);
}
