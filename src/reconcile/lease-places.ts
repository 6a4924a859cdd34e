// Directories in which host-local, native or WASM, keeps a network's leases, from the network's configuration.

import { poolNameIn } from "../address-pool/pool-configuration.ts";
import type { NetworkList } from "../cni/network-list.ts";
import { isJsonObject, memberValue } from "../json/document.ts";

/** Types of the two implementations, which share their directories. */
const types: readonly string[] = ["host-local", "ipam-host-local"];

/** Directories with this network's leases: one file for each address. `poolsRoot`: the parent of those of the cluster's pools. */
export function leasePlaces(list: NetworkList, defaultDirectory: string, poolsRoot: string): readonly string[] {
  const places = list.plugins.flatMap(({ type, ipamType, document }): string[] => {
    if (!types.includes(ipamType ?? type)) return [];
    // Native host-local knows no pools of the cluster.
    const pool = (ipamType ?? type) === "host-local" ? undefined : poolNameIn(document.parsed);
    if (pool?.ok === true && pool.value !== undefined) return [`${poolsRoot}/${pool.value}`];
    const ipam = memberValue(document, "ipam");
    const dataDir = isJsonObject(ipam) && Object.hasOwn(ipam, "dataDir") ? ipam["dataDir"] : undefined;
    const root = typeof dataDir === "string" && dataDir !== "" ? dataDir : defaultDirectory;
    return root.startsWith("/") ? [`${root.replace(/\/+$/u, "")}/${list.name}`] : [];
  });
  return [...new Set(places)];
}
