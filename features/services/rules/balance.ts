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

/**
 * The ports of all Services of the slices. With session affinity a pod keeps one endpoint while it is there: `earlier` has its last choices by the port's name,
 * and a new choice is the endpoint with the highest hash for `client`, so that few pods change theirs when another endpoint comes.
 */
export function balance(slices: readonly KeptSlice[], client: string, earlier: ReadonlyMap<string, string>): Balance {
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
        const all = backendsOf(own, address.family, portName, protocol);
        const name = `${service}:${port}/${protocol.toLowerCase()}/${address.family}`;
        const used = front.hasAffinity ? chosen(all, name, client, earlier) : all;
        if (ports.length >= balanceBounds.ports || backends + used.length > balanceBounds.backends) left += 1;
        else {
          ports.push({ name, address, protocol: protocolNumbers[protocol], port, backends: used });
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

function chosen(all: readonly Backend[], name: string, client: string, earlier: ReadonlyMap<string, string>): readonly Backend[] {
  const kept = all.find((each) => backendText(each) === earlier.get(name));
  if (kept !== undefined) return [kept];
  const ranked = all.map((each) => ({ each, rank: hash(`${client} ${name} ${backendText(each)}`) }));
  return ranked
    .toSorted((one, other) => other.rank - one.rank)
    .slice(0, 1)
    .map(({ each }) => each);
}

/** The text of an endpoint: `10.0.0.1 80`. */
export function backendText({ address, port }: Backend): string {
  return `${formatAddress(address)} ${port}`;
}

/** The text of ports: equal texts are equal tables. */
export function balanceText(ports: readonly BalancedPort[]): string {
  return ports
    .map(({ name, address, backends }) => [name, formatAddress(address), ...backends.map(backendText)].join(" "))
    .join("\n");
}

/** FNV-1a of 32 bits, and a final mix: close texts need far ranks. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
