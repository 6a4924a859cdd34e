// Finds the address pools of a network configuration list by the configuration of host-local. Native host-local and the delegate
// ipam-host-local have the same configuration, and keep leases in the same directories.

import { poolNameIn } from "../../../src/configuration/pool-name.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { compareAddresses, type IpAddress, networkOf, readAddress, readCidr } from "../../../src/net/ip.ts";

/** One pool in a configuration. */
export interface PoolConfiguration {
  readonly network: string;
  /** Parent of the network's lease directory; undefined: the default of the plugin or of the delegate. */
  readonly dataDir: string | undefined;
  readonly native: boolean;
  /** The pool of the cluster that the configuration names: the node knows its own blocks, not the pool's size. */
  readonly pool?: string;
  /** Number of addresses in the ranges, without gateways; undefined if the configuration does not define it. */
  readonly size: number | undefined;
}

const types: readonly unknown[] = ["host-local", "ipam-host-local"];

/** The pools of a list's plugins, in order. `conflist` is JSON; an invalid list has no pools. */
export function poolsOf(network: string, conflist: string): readonly PoolConfiguration[] {
  const list = parsed(conflist);
  if (!isJsonObject(list)) return [];
  const plugins: readonly unknown[] = Array.isArray(list["plugins"]) ? list["plugins"] : [list];
  return plugins.filter(isJsonObject).flatMap((plugin): PoolConfiguration[] => {
    const { ipam = plugin } = plugin;
    if (!isJsonObject(ipam) || !types.includes(ipam["type"])) return [];
    const pool = ipam["type"] === "host-local" ? undefined : poolNameIn({ ipam });
    if (pool?.ok === true && pool.value !== undefined)
      return [{ network, dataDir: undefined, native: false, size: undefined, pool: pool.value }];
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

/**
 * The number of addresses. host-local's defaults: a range starts at the subnet's second address, which is its gateway, and ends at the last
 * address, or before the broadcast address of an IPv4 subnet.
 */
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

function addressOr(text: unknown, fallback: IpAddress): IpAddress | undefined {
  return typeof text === "string" && text !== "" ? readAddress(text) : fallback;
}

function plus({ family, value }: IpAddress, by: bigint): IpAddress {
  return { family, value: value + by };
}

/** Whether a file name in a pool's directory is that of a lease. */
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
