// The content of a DHCPACK: the address with its network, routes, name resolution, times. As the reference plugin dhcp 1.9.1 reads it. Pure.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { inertLine } from "../text/inert-text.ts";
import { OPTION, type ServerMessage } from "./message.ts";

/** A route to `dst` (CIDR notation). `gateway` is `0.0.0.0` for a network on the link itself. */
export interface LeaseRoute {
  readonly dst: string;
  readonly gateway: string;
}

/** The terms of a lease. */
export interface LeaseTerms {
  readonly address: string;
  readonly prefix: number;
  /** The server's identifier. */
  readonly server: string;
  readonly gateway: string | undefined;
  readonly routes: readonly LeaseRoute[];
  readonly nameservers: readonly string[];
  readonly domain: string | undefined;
  readonly mtu: number | undefined;
  /** Seconds from the request: when the client renews, when it asks any server, when it may no longer use the address. */
  readonly renewSeconds: number;
  readonly rebindSeconds: number;
  readonly leaseSeconds: number;
}

const defaultLeaseSeconds = 3600;
/** A server must not make the node renew without a pause. */
const minLeaseSeconds = 10;
const minRenewSeconds = minLeaseSeconds / 2;
const minRebindSeconds = 8;
const maxName = 253;
const maxEntries = 64;

/** The terms of an answer. Fault DHCP_FAILED: without an address, a server or a subnet mask. */
export function termsOf({ yourAddress, options }: ServerMessage): Result<LeaseTerms> {
  const address = addressText(yourAddress);
  const [server] = addresses(options.get(OPTION.serverId));
  if (address === undefined || address === "0.0.0.0" || server === undefined)
    return refuse("without an address or a server's identifier");
  const prefix = prefixOf(options.get(OPTION.subnetMask));
  if (prefix === undefined) return refuse("without a valid subnet mask (option 1)");
  const [gateway] = addresses(options.get(OPTION.router));
  const lease = secondsIn(options.get(OPTION.leaseTime)) ?? defaultLeaseSeconds;
  const leaseSeconds = Math.max(minLeaseSeconds, lease);
  const rebind = secondsIn(options.get(OPTION.rebindingTime)) ?? Infinity;
  const rebindSeconds = rebind >= minRebindSeconds && rebind <= leaseSeconds ? rebind : Math.floor(leaseSeconds * 0.85);
  const renew = secondsIn(options.get(OPTION.renewalTime)) ?? Infinity;
  const renewSeconds =
    renew >= minRenewSeconds && renew <= rebindSeconds ? renew : Math.min(rebindSeconds, Math.floor(leaseSeconds / 2));
  const name = options.get(OPTION.domainName);
  const mtu = options.get(OPTION.mtu);
  return ok({
    address,
    prefix,
    server,
    gateway,
    routes: routesOf(options, gateway),
    nameservers: addresses(options.get(OPTION.dnsServers)),
    domain: name === undefined ? undefined : inertLine(new TextDecoder().decode(name).replace(/\0+$/u, ""), maxName) || undefined,
    mtu: mtu?.length === 2 ? ((mtu[0] ?? 0) << 8) | (mtu[1] ?? 0) : undefined,
    renewSeconds,
    rebindSeconds,
    leaseSeconds,
  });
}

function refuse<T>(why: string): Result<T> {
  return failed(fault("DHCP_FAILED", `the DHCP server answers ${why}`));
}

/** RFC 3442: with classless routes, static routes and the router count not. */
function routesOf(options: ServerMessage["options"], gateway: string | undefined): readonly LeaseRoute[] {
  const classless = classlessRoutes(options.get(OPTION.classlessRoutes));
  if (classless.length > 0) return classless;
  const pairs = addresses(options.get(OPTION.staticRoutes));
  const routes: LeaseRoute[] = [];
  for (let at = 0; at + 1 < pairs.length; at += 2) routes.push({ dst: classful(pairs[at] ?? ""), gateway: pairs[at + 1] ?? "" });
  return gateway === undefined ? routes : [...routes, { dst: "0.0.0.0/0", gateway }];
}

function classlessRoutes(value: Uint8Array = new Uint8Array()): readonly LeaseRoute[] {
  const routes: LeaseRoute[] = [];
  for (let at = 0; at < value.length && routes.length < maxEntries;) {
    const prefix = value[at] ?? 0;
    const bytes = Math.ceil(prefix / 8);
    const gateway = addressText(value.subarray(at + 1 + bytes, at + 5 + bytes));
    if (prefix > 32 || gateway === undefined) return [];
    const network = new Uint8Array(4);
    network.set(value.subarray(at + 1, at + 1 + bytes));
    routes.push({ dst: `${maskedText(network, prefix)}/${prefix}`, gateway });
    at += 5 + bytes;
  }
  return routes;
}

function maskedText(network: Uint8Array, prefix: number): string {
  return [...network].map((byte, at) => byte & (0xff00 >> Math.min(8, Math.max(0, prefix - at * 8)))).join(".");
}

/** The network of an address by its class, as option 33 means it. */
function classful(text: string): string {
  const bytes = text.split(".").map(Number);
  const [first = 0] = bytes;
  const prefix = first < 128 ? 8 : first < 192 ? 16 : 24;
  return `${maskedText(Uint8Array.from(bytes), prefix)}/${prefix}`;
}

function prefixOf(mask: Uint8Array | undefined): number | undefined {
  if (mask?.length !== 4) return undefined;
  const bits = [...mask].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return /^1+0*$/.test(bits) ? bits.lastIndexOf("1") + 1 : undefined;
}

function secondsIn(value: Uint8Array | undefined): number | undefined {
  return value?.length === 4 ? new DataView(value.buffer, value.byteOffset).getUint32(0) : undefined;
}

/** The addresses of a list; a rest of fewer than four bytes counts not. */
function addresses(value: Uint8Array = new Uint8Array()): readonly string[] {
  const count = Math.min(maxEntries, Math.floor(value.length / 4));
  return Array.from({ length: count }, (_, at) => addressText(value.subarray(at * 4, at * 4 + 4)) ?? "");
}

function addressText(bytes: Uint8Array): string | undefined {
  return bytes.length === 4 ? bytes.join(".") : undefined;
}
