// Endpoints of a Service as kube-controller-manager writes them (k8s.io/endpointslice, podToEndpoint), with the pod's addresses on the Service's network.

import { isJsonObject } from "../../../src/json/document.ts";
import { type Family, type IpAddress, readAddress } from "../../../src/net/ip.ts";
import type { Protocol } from "../../../src/kube/named-ports.ts";
import { addressesOn, type MemberPod } from "./member-pod.ts";
import type { NetworkService } from "./service.ts";

/** A port of an EndpointSlice. */
export interface EndpointPort {
  readonly name: string;
  readonly protocol: Protocol;
  readonly port: number;
  readonly appProtocol?: string;
}

/** An endpoint: the object's text, with its members in one order. The controller holds the endpoints of all Services, and a text is smaller than an object. */
export type EndpointText = string;

/** Endpoints that have the same family and the same ports. */
export interface EndpointGroup {
  readonly family: Family;
  readonly ports: readonly EndpointPort[];
  readonly endpoints: readonly EndpointText[];
}

/** A pod with its name. */
export interface NamedPod {
  readonly name: string;
  readonly pod: MemberPod;
}

/**
 * The groups of a Service's pods, in no order of pods. `zoneOf`: the zone of a node, empty if the node names none; undefined: the cluster has no such node. A pod
 * of such a node is no endpoint, as for kube-controller-manager: nobody tells any more whether the pod is ready.
 */
export function endpointGroups(
  service: NetworkService,
  pods: Iterable<NamedPod>,
  zoneOf: (node: string) => string | undefined,
): readonly EndpointGroup[] {
  const groups = new Map<string, { family: Family; ports: readonly EndpointPort[]; endpoints: EndpointText[] }>();
  for (const { name, pod } of pods) {
    const zone = pod.node === "" ? "" : zoneOf(pod.node);
    if (zone === undefined && !service.publishesNotReady) continue;
    const addresses = addressesOn(pod, service.network) ?? [];
    const ports = portsOf(service, pod);
    const portsText = JSON.stringify(ports);
    for (const address of addresses) {
      const read = readAddress(address);
      if (read === undefined || !isServed(service, read) || !isEndpointAddress(read)) continue;
      const { family } = read;
      const key = `${family} ${portsText}`;
      const group = groups.get(key) ?? { family, ports, endpoints: [] };
      groups.set(key, group);
      group.endpoints.push(endpointOf(service, name, pod, address, zone ?? ""));
    }
  }
  return [...groups.values()];
}

/** Whether the Service has the address' family. */
export function isServed({ families }: NetworkService, { family }: IpAddress): boolean {
  return families.includes(family);
}

/**
 * Whether an EndpointSlice may have the address. The API server refuses a whole slice with an unspecified, loopback or link-local address (k8s.io/kubernetes
 * ValidateEndpointIP), so that one pod's address would keep all other pods from the Service.
 */
export function isEndpointAddress({ family, value }: IpAddress): boolean {
  const isSpecial =
    family === 4
      ? value === 0n || value >> 24n === 127n || value >> 16n === 0xa9fen || value >> 8n === 0xe0_00_00n
      : value <= 1n || value >> 118n === 0x3fan || ((value >> 112n) & 0xff0fn) === 0xff02n;
  return !isSpecial;
}

/** The Service's ports with the pod's numbers. A port whose name the pod has not is left out, as kube-controller-manager does. */
function portsOf({ ports }: NetworkService, pod: MemberPod): readonly EndpointPort[] {
  return ports.flatMap(({ name, protocol, target, appProtocol }) => {
    const port =
      typeof target === "number" ? target : pod.ports.find((each) => each.name === target && each.protocol === protocol)?.port;
    return port === undefined ? [] : [{ name, protocol, port, ...(appProtocol === undefined ? {} : { appProtocol }) }];
  });
}

function endpointOf(service: NetworkService, name: string, pod: MemberPod, address: string, zone: string): EndpointText {
  const { isReady: serving, isTerminating: terminating, uid } = pod;
  // A pod's name in DNS holds for the Service that the pod names as its subdomain.
  const hostname = pod.hostname !== "" && pod.subdomain === service.name ? pod.hostname : undefined;
  return endpointText({
    addresses: [address],
    conditions: { ready: service.publishesNotReady || (serving && !terminating), serving, terminating },
    hostname,
    targetRef: { kind: "Pod", namespace: service.namespace, name, uid },
    nodeName: pod.node === "" ? undefined : pod.node,
    zone: zone === "" ? undefined : zone,
  });
}

/** The identity of an endpoint in its Service: the pod's uid and the address. */
export function endpointKey(text: EndpointText): string {
  const { addresses, targetRef }: { addresses?: unknown[]; targetRef?: { uid?: unknown } } = JSON.parse(text);
  return `${String(targetRef?.uid)} ${String(addresses?.[0])}`;
}

/** The text of an endpoint in a slice. Members that Plexus does not write make it another one, so that the slice is written anew. */
export function readEndpoint(value: unknown): EndpointText {
  const { addresses, conditions, hostname, targetRef, nodeName, zone, ...others } = isJsonObject(value) ? value : {};
  const { ready, serving, terminating } = isJsonObject(conditions) ? conditions : {};
  const { kind, namespace, name, uid } = isJsonObject(targetRef) ? targetRef : {};
  const isForeign = Object.keys(others).length > 0;
  return endpointText({
    addresses,
    conditions: { ready, serving, terminating },
    hostname,
    targetRef: { kind, namespace, name, uid },
    nodeName,
    zone,
    ...(isForeign ? { others: true } : {}),
  });
}

function endpointText(parts: Readonly<Record<string, unknown>>): EndpointText {
  return JSON.stringify(parts);
}
