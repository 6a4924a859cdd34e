// Ports of a policy's rule: by number, by a range, by name, or a protocol alone.

import { describeJson, isJsonObject } from "../../../src/json/document.ts";
import { quote } from "../../../src/json/quote.ts";
import { isPortName, isPortNumber, isProtocol, type Protocol } from "../../../src/kube/named-ports.ts";
import { problem, type Reading } from "../../../src/kube/object-parts.ts";

/** A port of a rule. */
export interface PolicyPort {
  readonly protocol: Protocol;
  /** Numbers, both ends included; a name of a container's port; undefined: every port of the protocol. */
  readonly port: { readonly first: number; readonly last: number } | { readonly name: string } | undefined;
}

const maxPort = 65_535;

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
