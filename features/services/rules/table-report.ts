// The report of a pod's Services for administrators has each port of a cluster address, with its endpoints.

import { formatAddress, type IpAddress } from "../../../src/net/ip.ts";
import type { ServiceEndpoints } from "../../../src/kube/service-endpoints.ts";
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
  return ports.map((served) => ({
    service: serviceOf(served),
    address: formatAddress(served.address),
    protocol: names.get(served.protocol) ?? String(served.protocol),
    port: served.port,
    endpoints: served.backends.map(backendText),
  }));
}

/** The Service of a cluster address with the addresses behind all of its ports; undefined: the table has no such address. */
export function endpointsAt(ports: readonly BalancedPort[], address: IpAddress): ServiceEndpoints | undefined {
  const text = formatAddress(address);
  const own = ports.filter((each) => formatAddress(each.address) === text);
  const [first] = own;
  if (first === undefined) return undefined;
  const endpoints = new Map(own.flatMap(({ backends }) => backends.map((each) => [formatAddress(each.address), each.address])));
  return { service: serviceOf(first), endpoints: [...endpoints.values()] };
}

/** `namespace/name`. */
function serviceOf({ name }: BalancedPort): string {
  return name.slice(0, name.indexOf(":"));
}
