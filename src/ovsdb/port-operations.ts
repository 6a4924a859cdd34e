// The operations of OVSDB on ports of a bridge (ovs-vswitchd.conf.db(5)), and the rows of their answers. A port of Plexus has one interface, and both
// have the name of the link.

import type { Operation, Row } from "./messages.ts";
import { type PortVlans, readPortVlans, vlanColumns } from "./port-vlans.ts";
import { type Atom, map, readOptional, readTextMap, readUuid, set, uuid } from "./values.ts";

/** An interface as OVSDB has it. */
export interface InterfaceRow {
  readonly id: string;
  readonly name: string;
  readonly externalIds: ReadonlyMap<string, string>;
  /** -1: ovs-vswitchd could not take the interface. Undefined: it has not taken the interface yet. */
  readonly number: number | undefined;
  readonly error: string | undefined;
  readonly linkUp: boolean;
  /** The number that the port's maker requested. */
  readonly requestedNumber: number | undefined;
}

/** A bridge or a port. */
export interface NamedRow {
  readonly id: string;
  readonly name: string;
}

/** A port with its VLANs. */
export interface PortRow extends NamedRow, PortVlans {}

/** A port to be made. */
export interface PortSpecification {
  readonly bridge: NamedRow;
  readonly link: string;
  readonly externalIds: readonly (readonly [string, string])[];
  readonly vlans: PortVlans;
  /** The requested number; undefined: ovs-vswitchd chooses one. */
  readonly number: number | undefined;
}

/** A port that is removed, by its rows. */
export interface OwnedPort {
  readonly interfaceId: string;
  readonly portId: string;
  /** The interface's name. */
  readonly name: string;
}

/** Conditions on a row's columns, which must all hold (RFC 7047 section 5.1). */
type Where = readonly (readonly [column: string, relation: "==" | "includes", value: unknown])[];

interface Condition {
  readonly until?: "==" | "!=";
  /** In milliseconds. */
  readonly timeout?: number;
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

const interfaceColumns = ["_uuid", "name", "external_ids", "ofport", "ofport_request", "error", "link_state"];

/** Selects the interface of a link. */
export function selectInterface(link: string): Operation {
  return { op: "select", table: "Interface", where: [["name", "==", link]], columns: interfaceColumns };
}

/** Selects all interfaces with these `external_ids`. */
export function selectMarkedInterfaces(marks: readonly (readonly [string, string])[]): Operation {
  return { op: "select", table: "Interface", where: [["external_ids", "includes", map(marks)]], columns: interfaceColumns };
}

/** Selects the port of an interface. */
export function selectPortOf(interfaceId: string): Operation {
  const columns = ["_uuid", "name", "tag", "trunks"];
  return { op: "select", table: "Port", where: [["interfaces", "includes", uuid(interfaceId)]], columns };
}

/** Selects the bridge of a port. */
export function selectBridgeOf(portId: string): Operation {
  return { op: "select", table: "Bridge", where: [["ports", "includes", uuid(portId)]], columns: ["_uuid", "name"] };
}

/** Selects a bridge by its name, or all bridges. */
export function selectBridges(name?: string): Operation {
  return { op: "select", table: "Bridge", where: name === undefined ? [] : [["name", "==", name]], columns: ["_uuid", "name"] };
}

/** Goes on only if the rows of `where` have exactly these values in the columns; waits for that at most `timeout` milliseconds. */
function wait(table: string, where: Where, { until = "==", timeout = 0, columns, rows }: Condition): Operation {
  return { op: "wait", timeout, table, where, columns, until, rows };
}

function mutatePorts(where: Where, mutator: "insert" | "delete", port: Atom): Operation {
  return { op: "mutate", table: "Bridge", where, mutations: [["ports", mutator, set([port])]] };
}

/** The operations that make a port, if its name is still free and its bridge still exists. */
export function addPortOperations({ bridge, link, externalIds, vlans, number }: PortSpecification): readonly Operation[] {
  const requested = number === undefined ? {} : { ofport_request: number };
  const port = { name: link, interfaces: ["named-uuid", "interface"], ...vlanColumns(vlans) };
  const isBridge: Where = [["_uuid", "==", uuid(bridge.id)]];
  const isLink: Where = [["name", "==", link]];
  return [
    wait("Interface", isLink, { columns: ["name"], rows: [] }),
    wait("Port", isLink, { columns: ["name"], rows: [] }),
    wait("Bridge", isBridge, { columns: ["name"], rows: [{ name: bridge.name }] }),
    {
      op: "insert",
      table: "Interface",
      row: { name: link, external_ids: map(externalIds), ...requested },
      "uuid-name": "interface",
    },
    { op: "insert", table: "Port", row: port, "uuid-name": "port" },
    mutatePorts(isBridge, "insert", ["named-uuid", "port"]),
    { op: "comment", comment: `plexus: add port ${link}` },
  ];
}

/** The operations that remove ports, if all of their interfaces still have the marks. OVSDB removes the rows that nothing refers to. */
export function removePortOperations(
  ports: readonly OwnedPort[],
  marks: readonly (readonly [string, string])[],
): readonly Operation[] {
  return ports.flatMap(({ interfaceId, portId, name }) => {
    const isOwned: Where = [
      ["_uuid", "==", uuid(interfaceId)],
      ["external_ids", "includes", map(marks)],
    ];
    return [
      wait("Interface", isOwned, { columns: ["name"], rows: [{ name }] }),
      mutatePorts([["ports", "includes", uuid(portId)]], "delete", uuid(portId)),
    ];
  });
}

/** The operations that wait until ovs-vswitchd has taken the interface or refused it, for `timeoutMs` milliseconds, and select it. */
export function settleOperations(interfaceId: string, timeoutMs: number): readonly Operation[] {
  const where: Where = [["_uuid", "==", uuid(interfaceId)]];
  return [
    wait("Interface", where, { until: "!=", timeout: timeoutMs, columns: ["ofport"], rows: [{ ofport: set([]) }] }),
    { op: "select", table: "Interface", where, columns: interfaceColumns },
  ];
}

/** Reads a row of a selected interface; undefined if its columns are not those of the schema. */
export function readInterface(row: Row): InterfaceRow | undefined {
  const externalIds = readTextMap(row["external_ids"]);
  const named = readNamed(row);
  const number = readOptional(row["ofport"]);
  const requested = readOptional(row["ofport_request"]);
  const error = readOptional(row["error"]);
  if (externalIds === undefined || named === undefined) return undefined;
  return {
    ...named,
    externalIds,
    number: typeof number === "number" && Number.isInteger(number) ? number : undefined,
    error: typeof error === "string" && error !== "" ? error.slice(0, maxErrorLength) : undefined,
    linkUp: readOptional(row["link_state"]) === "up",
    requestedNumber: typeof requested === "number" ? requested : undefined,
  };
}

/** Reads a row of a selected port; undefined if its columns are not those of the schema. */
export function readPort(row: Row): PortRow | undefined {
  const named = readNamed(row);
  const vlans = readPortVlans(row);
  return named === undefined || vlans === undefined ? undefined : { ...named, ...vlans };
}

/** Reads a row of a selected bridge; undefined if its columns are not those of the schema. */
export function readNamed(row: Row): NamedRow | undefined {
  const id = readUuid(row["_uuid"]);
  const name = row["name"];
  return id === undefined || typeof name !== "string" ? undefined : { id, name };
}

/** Maximum length of ovs-vswitchd's text about an interface, in UTF-16 units. */
const maxErrorLength = 500;
