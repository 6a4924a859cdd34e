// Directories in which host-local, native or WASM, keeps a network's leases, from the network's configuration.

import type { NetworkList } from "../cni/network-list.ts";
import { isJsonObject, memberValue } from "../json/document.ts";

/** Types of the two implementations, which share their directories. */
const types: readonly string[] = ["host-local", "ipam-host-local"];

/** Directories with this network's leases: one file for each address. */
export function leasePlaces(list: NetworkList, defaultDirectory: string): readonly string[] {
  const places = list.plugins.flatMap(({ type, ipamType, document }): string[] => {
    if (!types.includes(ipamType ?? type)) return [];
    const ipam = memberValue(document, "ipam");
    const dataDir = isJsonObject(ipam) && Object.hasOwn(ipam, "dataDir") ? ipam["dataDir"] : undefined;
    const root = typeof dataDir === "string" && dataDir !== "" ? dataDir : defaultDirectory;
    return root.startsWith("/") ? [`${root.replace(/\/+$/u, "")}/${list.name}`] : [];
  });
  return [...new Set(places)];
}
