// Ports of Kubernetes' objects: protocols, numbers, and the named ports of a pod's containers.

import { isJsonObject } from "../json/document.ts";

/** A transport protocol of Kubernetes' ports. */
export type Protocol = "TCP" | "UDP" | "SCTP";

/** IP protocol numbers. */
export const protocolNumbers: Readonly<Record<Protocol, number>> = { TCP: 6, UDP: 17, SCTP: 132 };

/** A named port of a pod's container. */
export interface NamedPort {
  readonly name: string;
  readonly protocol: Protocol;
  readonly port: number;
}

const maxPort = 65_535;
/** IANA_SVC_NAME, the form that the API server demands of a port's name. */
const portName = /^(?!.*--)[a-z0-9](?:[-a-z0-9]{0,13}[a-z0-9])?$/;
/** Maximum named ports of a pod that are read. */
const maxNamedPorts = 256;

/** Whether the value is a transport protocol. */
export function isProtocol(value: unknown): value is Protocol {
  return typeof value === "string" && Object.hasOwn(protocolNumbers, value);
}

/** Whether the value is a port's number. */
export function isPortNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= maxPort;
}

/** Whether the value is the name of a container's port. */
export function isPortName(value: unknown): value is string {
  return typeof value === "string" && portName.test(value) && /[a-z]/.test(value);
}

/** The named ports of a pod's containers. An entry that the API server would refuse is left out. */
export function namedPorts(pod: unknown): readonly NamedPort[] {
  const spec = isJsonObject(pod) ? pod["spec"] : undefined;
  if (!isJsonObject(spec)) return [];
  // Init containers that restart always are sidecars. Other ones have ended before the pod serves anything.
  const containers = [...listIn(spec["containers"]), ...listIn(spec["initContainers"]).filter(isSidecar)];
  const lists = containers.map((container) => (isJsonObject(container) ? container["ports"] : undefined));
  const ports = lists.flatMap(listIn);
  return readNamedPorts(ports.map((each) => (isJsonObject(each) ? { ...each, port: each["containerPort"] } : each)));
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isSidecar(container: unknown): boolean {
  return isJsonObject(container) && container["restartPolicy"] === "Always";
}

/** Named ports in a list. An entry that is none is left out. */
export function readNamedPorts(list: unknown): readonly NamedPort[] {
  const found: NamedPort[] = [];
  for (const each of Array.isArray(list) ? list : []) {
    const { name, port, protocol = "TCP" } = isJsonObject(each) ? each : {};
    const isUsable = isPortName(name) && isPortNumber(port) && isProtocol(protocol);
    if (isUsable && found.length < maxNamedPorts) found.push({ name, protocol, port });
  }
  return found;
}
