// Which pools of addresses a configuration list draws from, as host-local's configuration says it: native host-local and the delegate
// ipam-host-local keep leases in the same directories.

import { isJsonObject } from "../../src/json/document.ts";
import { compareAddresses, type IpAddress, networkOf, readAddress, readCidr } from "../../src/net/ip.ts";

export interface PoolConfiguration {
  readonly network: string;
  /** Of which the network's directory has a file for each address; undefined: the default, the plugin's or the delegate's. */
  readonly dataDir: string | undefined;
  readonly native: boolean;
  /** Addresses of its ranges without their gateways; undefined where that isn't said. */
  readonly size: number | undefined;
}

const types: readonly unknown[] = ["host-local", "ipam-host-local"];

/** Those of a list's plugins, in their order. `conflist` is JSON; what isn't as it should be has no pools. */
export function poolsOf(network: string, conflist: string): readonly PoolConfiguration[] {
  const list = parsed(conflist);
  if (!isJsonObject(list)) return [];
  const plugins: readonly unknown[] = Array.isArray(list["plugins"]) ? list["plugins"] : [list];
  return plugins.filter(isJsonObject).flatMap((plugin): PoolConfiguration[] => {
    const { ipam = plugin } = plugin;
    if (!isJsonObject(ipam) || !types.includes(ipam["type"])) return [];
    const dataDir = typeof ipam["dataDir"] === "string" && ipam["dataDir"] !== "" ? ipam["dataDir"] : undefined;
    return [{ network, dataDir, native: ipam["type"] === "host-local", size: sizeOf(ipam) }];
  });
}

function sizeOf(ipam: Readonly<Record<string, unknown>>): number | undefined {
  const sets: readonly unknown[] = Array.isArray(ipam["ranges"]) ? ipam["ranges"] : [];
  const ranges = [...("subnet" in ipam ? [ipam] : []), ...sets.flat()].map((range) =>
    isJsonObject(range) ? rangeSize(range) : undefined,
  );
  return ranges.length === 0 ? undefined : ranges.reduce<number | undefined>(sum, 0);
}

function sum(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined || right === undefined ? undefined : left + right;
}

/** host-local's defaults: from the subnet's second address, its gateway, to its last, or before a v4 broadcast address. */
function rangeSize({ subnet, rangeStart, rangeEnd, gateway }: Readonly<Record<string, unknown>>): number | undefined {
  const cidr = typeof subnet === "string" ? readCidr(subnet) : undefined;
  if (cidr === undefined) return undefined;
  const { first, last } = networkOf(cidr);
  const start = addressOr(rangeStart, plus(first, 1n));
  const end = addressOr(rangeEnd, last.family === 4 ? plus(last, -1n) : last);
  const router = addressOr(gateway, plus(first, 1n));
  if (start === undefined || end === undefined || compareAddresses(start, end) > 0) return undefined;
  const within = router !== undefined && compareAddresses(start, router) <= 0 && compareAddresses(router, end) <= 0;
  return Number(end.value - start.value + 1n - (within ? 1n : 0n));
}

function addressOr(text: unknown, standard: IpAddress): IpAddress | undefined {
  return typeof text === "string" && text !== "" ? readAddress(text) : standard;
}

function plus({ family, value }: IpAddress, by: bigint): IpAddress {
  return { family, value: value + by };
}

/** Whether a file of this name in a pool's directory is a lease. */
export function isLease(name: string): boolean {
  return readAddress(name.replaceAll("_", ":")) !== undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
