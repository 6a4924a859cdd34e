// The Services of a pod's networks, as the pod's network namespace balances them: fronts with the addresses behind each.

import { isJsonObject } from "../../../src/json/document.ts";
import { type Family, formatAddress, type IpAddress, readAddress } from "../../../src/net/ip.ts";
import { type Protocol, protocolNumbers } from "../../../src/kube/named-ports.ts";
import type { EndpointPort, EndpointText } from "./endpoint.ts";
import type { Front } from "./front.ts";

/** A slice as a node keeps it. */
export interface KeptSlice {
  readonly namespace: string;
  readonly service: string;
  readonly network: string;
  readonly front: Front;
  readonly family: Family;
  readonly ports: readonly EndpointPort[];
  readonly endpoints: readonly BackendAddress[];
}

/** An address of a slice that may get connections. */
export interface BackendAddress {
  readonly address: string;
  /** Whether the endpoint is ready; otherwise it is terminating and still serves, and counts only where no endpoint is ready. */
  readonly isReady: boolean;
}

/** A port of a Service's cluster address, with its endpoints. */
export interface BalancedPort {
  /** `namespace/name:port/protocol`. */
  readonly name: string;
  readonly address: IpAddress;
  readonly protocol: number;
  readonly port: number;
  /** Sorted, without repetition. Empty: connections are refused. */
  readonly backends: readonly Backend[];
  /** Connections of one client go to one endpoint until so many seconds have passed without any. */
  readonly affinitySeconds?: number | undefined;
}

/** An endpoint's address and port. */
export interface Backend {
  readonly address: IpAddress;
  readonly port: number;
}

/** Bounds of one pod's table: Services of any namespace can name the pod's network, and must not cost the node more. */
export const balanceBounds = { ports: 4096, backends: 65_536 } as const;

/** The cluster addresses that a pod's network namespace balances, with their endpoints. */
export interface Balance {
  readonly ports: readonly BalancedPort[];
  /** Service ports beyond the bounds, which the pod does not reach. */
  readonly left: number;
}

/** The endpoint of a slice's text; undefined for one that gets no connections. */
export function backendAddress(text: EndpointText): BackendAddress | undefined {
  const value: unknown = JSON.parse(text);
  const { addresses, conditions } = isJsonObject(value) ? value : {};
  const address: unknown = Array.isArray(addresses) ? addresses[0] : undefined;
  const { ready, serving, terminating } = isJsonObject(conditions) ? conditions : {};
  if (typeof address !== "string" || readAddress(address) === undefined) return undefined;
  // A missing `ready` means ready, as for kube-proxy.
  const isReady = ready !== false;
  return isReady || (serving === true && terminating === true) ? { address, isReady } : undefined;
}

/** The ports of all Services of the slices. */
export function balance(slices: readonly KeptSlice[]): Balance {
  const services = Map.groupBy(slices, ({ namespace, service }) => `${namespace}/${service}`);
  const ports: BalancedPort[] = [];
  let [backends, left] = [0, 0];
  for (const [service, own] of [...services].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    // Slices differ for a moment after a change of the Service.
    const front = own[0]?.front;
    for (const ip of front?.clusterIps ?? []) {
      const address = readAddress(ip);
      if (front === undefined || address === undefined) continue;
      for (const { name: portName, protocol, port } of front.ports) {
        const used = backendsOf(own, address.family, portName, protocol);
        const name = `${service}:${port}/${protocol.toLowerCase()}/${address.family}`;
        const { affinitySeconds } = front;
        if (ports.length >= balanceBounds.ports || backends + used.length > balanceBounds.backends) left += 1;
        else {
          ports.push({ name, address, protocol: protocolNumbers[protocol], port, backends: used, affinitySeconds });
          backends += used.length;
        }
      }
    }
  }
  return { ports, left };
}

function backendsOf(slices: readonly KeptSlice[], family: Family, portName: string, protocol: Protocol): readonly Backend[] {
  const found = new Map<string, { readonly backend: Backend; readonly isReady: boolean }>();
  for (const slice of slices) {
    const port =
      slice.family === family ? slice.ports.find((each) => each.name === portName && each.protocol === protocol) : undefined;
    if (port === undefined) continue;
    for (const { address: text, isReady } of slice.endpoints) {
      const address = readAddress(text);
      if (address?.family === family) found.set(`${text} ${port.port}`, { backend: { address, port: port.port }, isReady });
    }
  }
  const sorted = [...found].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each);
  const ready = sorted.filter(({ isReady }) => isReady);
  return (ready.length > 0 ? ready : sorted).map(({ backend }) => backend);
}

/** The text of an endpoint: `10.0.0.1 80`. */
export function backendText({ address, port }: Backend): string {
  return `${formatAddress(address)} ${port}`;
}

/** The text of ports: equal texts are equal tables. */
export function balanceText(ports: readonly BalancedPort[]): string {
  return ports
    .map(({ name, address, affinitySeconds = 0, backends }) =>
      [name, formatAddress(address), affinitySeconds, ...backends.map(backendText)].join(" "),
    )
    .join("\n");
}
