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
  /** The uid of the Service: a Service that was made again with the same name is another one. */
  readonly uid: string;
  readonly address: IpAddress;
  readonly protocol: number;
  readonly port: number;
  /** Sorted, without repetition. Empty: connections are refused. */
  readonly backends: readonly Backend[];
  /** Endpoints of a UDP port that get no new flows, and keep those that they have while they serve. */
  readonly draining?: readonly Backend[] | undefined;
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
  /** The names of the first of them. */
  readonly leftNames: readonly string[];
}

/** The memory of a slice in characters: each part has some 50 besides its text, and a port some 100. */
export function keptSize({ front, ports, endpoints }: KeptSlice): number {
  const ofPorts = [...front.ports, ...ports].reduce((sum, { name }) => sum + 100 + name.length, 0);
  const texts = [...front.clusterIps, ...endpoints.map(({ address }) => address)];
  return texts.reduce((sum, text) => sum + 50 + text.length, ofPorts);
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

/** A port of a Service before its endpoints are looked up. */
interface Candidate {
  readonly name: string;
  readonly slices: readonly KeptSlice[];
  readonly front: Front;
  readonly port: Front["ports"][number];
  readonly address: IpAddress;
  /** Endpoints of the slices; the port has no more. */
  readonly maxBackends: number;
  /** The cost of this port and of the earlier ones of its namespace. */
  readonly turn: number;
}

/** The cost of a port by the number of its endpoints: a full table has its maximum by ports or by endpoints. */
const portCost = balanceBounds.backends / balanceBounds.ports;

/** Maximum names of the ports that are left out. */
const maxNames = 5;

/**
 * The ports of all Services of the slices. Within the bounds the Services of the pod's own namespace come first, and the other namespaces take turns, so that
 * Services of one namespace do not displace those of others.
 */
export function balance(slices: readonly KeptSlice[], podNamespace: string): Balance {
  const ports: BalancedPort[] = [];
  const leftNames: string[] = [];
  let [backends, left] = [0, 0];
  const fronts = new Set<string>();
  for (const { name, slices: own, front, port, address, maxBackends } of inTurns(slices, podNamespace)) {
    // A removed Service has slices for a while, and its address may be another Service's by then: the kernel refuses a table that has a port twice.
    const text = `${formatAddress(address)} ${port.protocol} ${port.port}`;
    if (fronts.has(text)) continue;
    fronts.add(text);
    if (ports.length >= balanceBounds.ports || backends + maxBackends > balanceBounds.backends) {
      left += 1;
      if (leftNames.length < maxNames) leftNames.push(name);
      continue;
    }
    const used = backendsOf(own, address.family, port.name, port.protocol);
    const { uid, affinitySeconds } = front;
    ports.push({
      name,
      uid,
      address,
      protocol: protocolNumbers[port.protocol],
      port: port.port,
      ...used,
      affinitySeconds,
    });
    backends += used.backends.length;
  }
  // Pods of several namespaces have equal tables, unless a bound is reached.
  return { ports: ports.toSorted(({ name: one }, { name: other }) => (one < other ? -1 : Number(one > other))), left, leftNames };
}

function inTurns(slices: readonly KeptSlice[], podNamespace: string): readonly Candidate[] {
  const services = Map.groupBy(slices, ({ namespace, service }) => `${namespace}/${service}`);
  const costs = new Map<string, number>();
  const found: Candidate[] = [];
  for (const [service, own] of [...services].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    // Slices differ for a moment after a change of the Service.
    const [first] = own;
    for (const ip of first?.front.clusterIps ?? []) {
      const address = readAddress(ip);
      if (first === undefined || address === undefined) continue;
      const { namespace, front } = first;
      const ofFamily = own.filter(({ family }) => family === address.family);
      const maxBackends = ofFamily.reduce((sum, { endpoints }) => sum + endpoints.length, 0);
      for (const port of front.ports) {
        const turn = (costs.get(namespace) ?? 0) + portCost + maxBackends;
        costs.set(namespace, turn);
        const name = `${service}:${port.port}/${port.protocol.toLowerCase()}/${address.family}`;
        found.push({ name, slices: ofFamily, front, port, address, maxBackends, turn: namespace === podNamespace ? 0 : turn });
      }
    }
  }
  return found.toSorted(({ turn: one }, { turn: other }) => one - other);
}

function backendsOf(
  slices: readonly KeptSlice[],
  family: Family,
  portName: string,
  protocol: Protocol,
): Pick<BalancedPort, "backends" | "draining"> {
  const found = new Map<string, { readonly backend: Backend; readonly isReady: boolean }>();
  for (const slice of slices) {
    const port =
      slice.family === family ? slice.ports.find((each) => each.name === portName && each.protocol === protocol) : undefined;
    if (port === undefined) continue;
    for (const { address: text, isReady } of slice.endpoints) {
      const address = readAddress(text);
      const key = `${text} ${port.port}`;
      // A pod that terminates may have left its address to another one.
      if (address?.family === family && found.get(key)?.isReady !== true)
        found.set(key, { backend: { address, port: port.port }, isReady });
    }
  }
  const sorted = [...found].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each);
  const inState = (state: boolean): readonly Backend[] =>
    sorted.flatMap(({ backend, isReady }) => (isReady === state ? [backend] : []));
  const [ready, serving] = [inState(true), inState(false)];
  if (ready.length === 0) return { backends: serving };
  // Connections of other protocols end by themselves.
  return protocol === "UDP" && serving.length > 0 ? { backends: ready, draining: serving } : { backends: ready };
}

/** The text of an endpoint: `10.0.0.1 80`. */
export function backendText({ address, port }: Backend): string {
  return `${formatAddress(address)} ${port}`;
}

/** The text of ports: equal texts are equal tables. */
export function balanceText(ports: readonly BalancedPort[]): string {
  return ports
    .map(({ name, uid, address, affinitySeconds = 0, backends, draining = [] }) => {
      const left = draining.length === 0 ? [] : ["draining", ...draining.map(backendText)];
      return [name, uid, formatAddress(address), affinitySeconds, ...backends.map(backendText), ...left].join(" ");
    })
    .join("\n");
}
