// The values of a port in a fabric, which a node plugs. Providers answer them, and an ExternalPort's status has them.

import { describeJson } from "../../../src/json/document.ts";
import { quote } from "../../../src/json/quote.ts";
import { problem, type Reading } from "../../../src/kube/object-parts.ts";
import { readAddress, readCidr } from "../../../src/net/ip.ts";
import { parseHardwareAddress } from "../../../src/npwg/hardware-address.ts";
import { isCount, isText, objectOf } from "./values.ts";

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

/** More addresses than a port of any fabric has. */
export const maxAddresses = 32;

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

function shown(value: unknown): string {
  return typeof value === "string" ? quote(value, 60) : describeJson(value);
}
