// What a pod's table of Services has, for administrators.

import { formatAddress } from "../../../src/net/ip.ts";
import { protocolNumbers } from "../../../src/kube/named-ports.ts";
import { backendText, type BalancedPort } from "./balance.ts";

/** The path of the report on the daemon's status socket. The parameter `pod` names a pod, any number of times. */
export const serviceTablesPath = "/service-tables";

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

/** The table of a pod. */
export interface PodServices {
  /** `namespace/name`. */
  readonly pod: string;
  /** False: the daemon has not written the pod's table since its start. */
  readonly isKnown: boolean;
  /** The reason why the last work for the pod failed. */
  readonly failure?: string | undefined;
  readonly ports: readonly ServedPort[];
}

/** The report of the daemon. */
export interface ServiceTables {
  readonly apiVersion: "plexus/v1";
  readonly kind: "ServiceTables";
  /** Whether a configuration of the node has the key `services`. */
  readonly isOn: boolean;
  readonly pods: readonly PodServices[];
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
