// Directories in which host-local, native or WASM, keeps a network's leases, from the network's configuration.

import { poolNameIn } from "../configuration/pool-name.ts";
import type { NetworkList, PluginConf } from "../cni/network-list.ts";
import { type DefinitionName, grantsFor } from "../configuration/definition-policy.ts";
import type { DefinitionPolicy } from "../configuration/keys/definition-keys.ts";
import { defaultLeaseDirectory } from "../configuration/keys/grant-keys.ts";
import type { WasmConfiguration } from "../configuration/wasm-configuration.ts";
import { isJsonObject, memberValue } from "../json/document.ts";

/** Types of the two implementations, which share their directories. */
const types: readonly string[] = ["host-local", "ipam-host-local"];

/** The leases of one plugin's IPAM. */
export interface LeasePlace {
  /** The directory with one file for each address. */
  readonly path: string;
  /** The directory with the network's directory. */
  readonly root: string;
  /** `ipam.dataDir`, if the configuration has it. */
  readonly dataDir: string | undefined;
  /** The pool of the cluster whose addresses the network uses. */
  readonly pool: string | undefined;
}

/** The parents of lease directories. */
export interface LeaseRoots {
  /** Directories for configurations without `dataDir`. */
  readonly defaults: readonly string[];
  /** The parent of the directories of the cluster's pools. */
  readonly pools: string;
}

/** A configuration's grants. */
export interface Grants {
  readonly wasm: WasmConfiguration;
  readonly definitions?: DefinitionPolicy | undefined;
}

/**
 * The parents of lease directories for one IPAM plugin. The native plugin has a default of its own; a component's default is its first granted
 * directory. `definition`: the definition that binds the network. `grants`: undefined if the configuration is not known.
 */
export function leaseRoots(
  grants: Grants | undefined,
  definition: DefinitionName | undefined,
  ipamType: string,
  pools: string,
): LeaseRoots {
  const granted = grants === undefined ? undefined : grantsFor(grants, definition, ipamType).leases?.directories?.[0];
  return { defaults: [granted ?? defaultLeaseDirectory, defaultLeaseDirectory], pools };
}

/** The places of the plugin's leases in this network; empty if its IPAM is not host-local. Only one of them is in use. */
export function leasePlacesOf(
  { type, ipamType, document }: PluginConf,
  network: string,
  { defaults, pools }: LeaseRoots,
): readonly LeasePlace[] {
  const ipam = ipamType ?? type;
  if (!types.includes(ipam)) return [];
  // Native host-local knows no pools of the cluster.
  const pool = ipam === "host-local" ? undefined : poolNameIn(document.parsed);
  if (pool?.ok === true && pool.value !== undefined)
    return [{ path: `${pools}/${pool.value}`, root: pools, dataDir: undefined, pool: pool.value }];
  const settings = memberValue(document, "ipam");
  const named = isJsonObject(settings) && Object.hasOwn(settings, "dataDir") ? settings["dataDir"] : undefined;
  const dataDir = typeof named === "string" && named !== "" ? named : undefined;
  const roots = new Set((dataDir === undefined ? defaults : [dataDir]).filter((each) => each.startsWith("/")));
  return [...roots].map((each) => {
    const root = each.replace(/\/+$/u, "");
    return { path: `${root}/${network}`, root, dataDir, pool: undefined };
  });
}

/** Directories with this network's leases: one file for each address. `rootsOf` answers for an IPAM plugin's type. */
export function leasePlaces(list: NetworkList, rootsOf: (ipamType: string) => LeaseRoots): readonly string[] {
  const places = list.plugins.flatMap((plugin) => leasePlacesOf(plugin, list.name, rootsOf(plugin.ipamType ?? plugin.type)));
  return [...new Set(places.map(({ path }) => path))];
}
