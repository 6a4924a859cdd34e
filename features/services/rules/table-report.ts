// The report of a pod's Services for administrators has each port of a cluster address, with its endpoints.

import { formatAddress } from "../../../src/net/ip.ts";
import { protocolNumbers } from "../../../src/kube/named-ports.ts";
import { backendText, type BalancedPort } from "./balance.ts";

/** The path of the report on the daemon's status socket. */
export const serviceTablesPath = "/service-tables";

/** The kind of the report. */
export const serviceTablesKind = "ServiceTables";

/** A port of a cluster address. */
export interface ServedPort {
  /** `namespace/name`. */
  readonly service: string;
  readonly address: string;
  readonly protocol: string;
  readonly port: number;
  /** `ADDRESS PORT`. Empty: connections are refused. */
  readonly endpoints: readonly string[];
}

/** The content of a pod's table in the report. */
export interface PodServices {
  readonly ports: readonly ServedPort[];
}

/** The ports of a table. */
export function servedPorts(ports: readonly BalancedPort[]): readonly ServedPort[] {
  const names = new Map(Object.entries(protocolNumbers).map(([name, number]) => [number, name]));
  return ports.map(({ name, address, protocol, port, backends }) => ({
    service: name.slice(0, name.indexOf(":")),
    address: formatAddress(address),
    protocol: names.get(protocol) ?? String(protocol),
    port,
    endpoints: backends.map(backendText),
  }));
}
