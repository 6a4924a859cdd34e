// Ports of a policy's rule: by number, by a range, by name, or a protocol alone.

import { describeJson, isJsonObject } from "../../../src/json/document.ts";
import { quote } from "../../../src/json/quote.ts";
import { problem, type Reading } from "../../../src/kube/object-parts.ts";

/** A transport protocol of Kubernetes' ports. */
export type Protocol = "TCP" | "UDP" | "SCTP";

/** IP protocol numbers. */
export const protocolNumbers: Readonly<Record<Protocol, number>> = { TCP: 6, UDP: 17, SCTP: 132 };

/** A port of a rule. */
export interface PolicyPort {
  readonly protocol: Protocol;
  /** Numbers, both ends included; a name of a container's port; undefined: every port of the protocol. */
  readonly port: { readonly first: number; readonly last: number } | { readonly name: string } | undefined;
}

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

function isProtocol(value: unknown): value is Protocol {
  return typeof value === "string" && Object.hasOwn(protocolNumbers, value);
}

function isPortNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= maxPort;
}

function isPortName(value: unknown): value is string {
  return typeof value === "string" && portName.test(value) && /[a-z]/.test(value);
}

/** Reads a port of a rule. The default protocol is TCP. */
export function readPolicyPort(object: unknown, where: string): Reading<PolicyPort> {
  if (!isJsonObject(object)) return problem(`${where} is ${describeJson(object)}, and must be an object`);
  const { port, endPort } = object;
  const protocol = object["protocol"] ?? "TCP";
  if (!isProtocol(protocol)) return problem(`${where}.protocol must be TCP, UDP or SCTP`);
  if (endPort !== undefined && endPort !== null) {
    if (!isPortNumber(port) || !isPortNumber(endPort) || endPort < port) {
      return problem(`${where}.endPort must be a number from port to ${maxPort}, and port must be a number`);
    }
    return { ok: true, value: { protocol, port: { first: port, last: endPort } } };
  }
  if (port === undefined || port === null) return { ok: true, value: { protocol, port: undefined } };
  if (isPortNumber(port)) return { ok: true, value: { protocol, port: { first: port, last: port } } };
  if (isPortName(port)) return { ok: true, value: { protocol, port: { name: port } } };
  const shown = typeof port === "string" ? quote(port, 40) : describeJson(port);
  return problem(`${where}.port is ${shown}, and must be a number from 1 to ${maxPort} or the name of a port`);
}

/** The named ports of a pod's containers. An entry that the API server would refuse is left out. */
export function namedPorts(pod: unknown): readonly NamedPort[] {
  const spec = isJsonObject(pod) ? pod["spec"] : undefined;
  if (!isJsonObject(spec)) return [];
  // Init containers that restart always are sidecars, whose ports count.
  const containers = [spec["containers"], spec["initContainers"]].flatMap((list) => (Array.isArray(list) ? list : []));
  const lists = containers.map((container) => (isJsonObject(container) ? container["ports"] : undefined));
  const ports = lists.flatMap((list) => (Array.isArray(list) ? list : []));
  return readNamedPorts(ports.map((each) => (isJsonObject(each) ? { ...each, port: each["containerPort"] } : each)));
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
