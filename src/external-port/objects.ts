// ExternalPort of the API group plexus.dev/v1alpha1: the port of an outer fabric (OpenStack, EC2, an SDN) for one interface of a pod.

import { describeJson, isJsonObject } from "../json/document.ts";
import { quote } from "../json/quote.ts";
import { type ObjectMetadata, problem, readParts, type Reading } from "../kube/object-parts.ts";
import { readAddress, readCidr } from "../net/ip.ts";
import { parseHardwareAddress } from "../npwg/hardware-address.ts";
import { type Condition, readConditions } from "../kube/conditions.ts";

/** The API group and version. */
export const externalPortApiVersion = "plexus.dev/v1alpha1";
/** The finalizer that keeps an ExternalPort until its provider has released the port. */
export const externalPortFinalizer = "plexus.dev/external-port";
/** The label with the pod's UID, by which the ports of a pod are listed. */
export const podUidLabel = "plexus.dev/pod-uid";

/** An address of a port, in CIDR notation, with its gateway. */
export interface PortAddress {
  readonly address: string;
  readonly gateway?: string;
}

/** How a node plugs a port. */
export type PortBinding =
  /** A port of an Open vSwitch bridge with this `external_ids:iface-id`. */
  | { readonly type: "ovs"; readonly interfaceId: string }
  /** A VLAN of the node's trunk. */
  | { readonly type: "vlan"; readonly vlan: number }
  /** Any link: the fabric knows the address only. */
  | { readonly type: "address-only" };

/** A port as its provider has it. */
export interface ProvidedPort {
  /** The provider's name of the port. */
  readonly providerId: string;
  readonly mac: string;
  readonly addresses: readonly PortAddress[];
  readonly routes: readonly { readonly dst: string; readonly gw?: string }[];
  readonly mtu: number | undefined;
  readonly binding: PortBinding;
}

/** The specification of an ExternalPort. plexus-controller writes it once. */
export interface ExternalPortSpec {
  readonly podName: string;
  readonly podUid: string;
  readonly nodeName: string;
  /** Position of the network in the pod's selection, from 0. */
  readonly index: number;
  readonly definition: { readonly namespace: string; readonly name: string };
  readonly provider: string;
  /** The definition's parameters for the provider, a JSON object as text. */
  readonly parameters: string;
  readonly requested: { readonly mac?: string; readonly ips?: readonly string[] };
}

/** An ExternalPort. */
export interface ExternalPort extends ObjectMetadata {
  readonly namespace: string;
  readonly spec: ExternalPortSpec;
  /** Undefined until the provider has made the port. */
  readonly port: ProvidedPort | undefined;
  readonly conditions: readonly Condition[];
}

/** The name of the ExternalPort of a pod's network: unique for ever, because a UID is. */
export function externalPortName(podUid: string, index: number): string {
  return `${podUid}-${index}`;
}

const maxParameters = 8_192;
/** More addresses than a port of any fabric has. */
const maxAddresses = 32;

/** Reads an ExternalPort from an answer of the API, which may come from another server. */
export function readExternalPort(object: unknown): Reading<ExternalPort> {
  const parts = readParts(object, { isNamespaced: true });
  if (!parts.ok) return parts;
  const { namespace, metadata, status } = parts.value;
  const spec = readSpec(parts.value.spec);
  if (!spec.ok) return spec;
  const port = status["providerId"] === undefined ? undefined : readProvidedPort(status);
  if (port?.ok === false) return problem(`status: ${port.problem}`);
  return {
    ok: true,
    value: {
      ...metadata,
      namespace,
      spec: spec.value,
      port: port?.value,
      conditions: readConditions(status["conditions"]),
    },
  };
}

function readSpec(spec: Members): Reading<ExternalPortSpec> {
  const { podName, podUid, nodeName, index, provider, parameters = "{}" } = spec;
  const { namespace, name } = objectOf(spec["definition"]);
  for (const [key, value] of Object.entries({ podName, podUid, nodeName, provider })) {
    if (!isText(value, 253)) return problem(`spec.${key} is ${describeJson(value)}`);
  }
  if (!isCount(index, 127)) return problem(`spec.index is ${describeJson(index)}`);
  if (!isText(namespace, 63) || !isText(name, 63)) return problem("spec.definition needs namespace and name");
  if (typeof parameters !== "string" || parameters.length > maxParameters) return problem("spec.parameters is no short text");
  const { mac, ips } = objectOf(spec["requested"]);
  const requested = {
    ...(typeof mac === "string" ? { mac } : {}),
    ...(Array.isArray(ips) ? { ips: ips.filter((each) => typeof each === "string").slice(0, maxAddresses) } : {}),
  };
  const texts = { podName, podUid, nodeName, provider } as Record<"podName" | "podUid" | "nodeName" | "provider", string>;
  return { ok: true, value: { ...texts, index, definition: { namespace, name }, parameters, requested } };
}

/** Reads a port from an object's status, or from a provider's answer. Every value is checked: the node plugs what it says. */
export function readProvidedPort(value: unknown): Reading<ProvidedPort> {
  const { providerId, mac, addresses, routes = [], mtu, binding } = objectOf(value);
  if (!isText(providerId, 253)) return problem(`providerId is ${describeJson(providerId)}`);
  if (typeof mac !== "string" || parseHardwareAddress(mac)?.length !== 6) return problem(`mac ${shown(mac)} is none`);
  if (!Array.isArray(addresses) || addresses.length > maxAddresses) return problem(`addresses is ${describeJson(addresses)}`);
  const read: PortAddress[] = [];
  for (const each of addresses) {
    const { address, gateway } = objectOf(each);
    if (typeof address !== "string" || readCidr(address) === undefined) return problem(`address ${shown(address)} is none`);
    if (gateway !== undefined && (typeof gateway !== "string" || readAddress(gateway) === undefined)) {
      return problem(`gateway ${shown(gateway)} is no address`);
    }
    read.push(gateway === undefined ? { address } : { address, gateway });
  }
  if (!Array.isArray(routes) || routes.length > 64) return problem("routes is no list of 64 routes at most");
  const readRoutes: { dst: string; gw?: string }[] = [];
  for (const each of routes) {
    const { dst, gw } = objectOf(each);
    if (typeof dst !== "string" || readCidr(dst) === undefined) return problem(`route ${shown(dst)} is none`);
    if (gw !== undefined && (typeof gw !== "string" || readAddress(gw) === undefined))
      return problem(`gateway ${shown(gw)} is none`);
    readRoutes.push(gw === undefined ? { dst } : { dst, gw });
  }
  if (mtu !== undefined && !(isCount(mtu, 65_535) && mtu >= 68)) return problem(`mtu ${shown(mtu)} is not 68 to 65535`);
  const plugged = readBinding(binding);
  if (!plugged.ok) return plugged;
  return {
    ok: true,
    value: { providerId, mac: mac.toLowerCase(), addresses: read, routes: readRoutes, mtu, binding: plugged.value },
  };
}

function readBinding(value: unknown): Reading<PortBinding> {
  const { type, interfaceId, vlan } = objectOf(value);
  if (type === "address-only") return { ok: true, value: { type } };
  if (type === "vlan") {
    return isCount(vlan, 4094) && vlan > 0
      ? { ok: true, value: { type, vlan } }
      : problem(`VLAN ${shown(vlan)} is not 1 to 4094`);
  }
  if (type !== "ovs") return problem(`binding.type ${shown(type)} is none of ovs, vlan and address-only`);
  const isId = typeof interfaceId === "string" && /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/.test(interfaceId);
  return isId ? { ok: true, value: { type, interfaceId } } : problem(`interfaceId ${shown(interfaceId)} is none`);
}

type Members = Readonly<Record<string, unknown>>;

function objectOf(value: unknown): Members {
  return isJsonObject(value) ? value : {};
}

function isText(value: unknown, maxLength: number): value is string {
  return typeof value === "string" && value !== "" && value.length <= maxLength;
}

function isCount(value: unknown, max: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= max;
}

function shown(value: unknown): string {
  return typeof value === "string" ? quote(value, 60) : describeJson(value);
}
