// The leases in a network's directory, as host-local (native or WASM) keeps them.

import { lstatSync, readdirSync } from "node:fs";
import { readAddress } from "../../src/net/ip.ts";
import type { Lease } from "../../src/reconcile/lease-owners.ts";
import { LeaseReader } from "../leases/lease-file.ts";
import { inTurns } from "./in-turns.ts";

/** Files of one directory that are read in one round. */
const most = 8192;

/** The leases there; none where the directory isn't, or can't be read: other brains than ours may be kept from it. */
export async function leasesIn(directory: string): Promise<readonly Lease[]> {
  const reader = new LeaseReader();
  const leases: Lease[] = [];
  for await (const name of inTurns(addressesIn(directory))) {
    const path = `${directory}/${name}`;
    const content = attempt(() => reader.read(path));
    const stats = attempt(() => lstatSync(path, { throwIfNoEntry: false }));
    const [containerId = "", ifname = ""] = (content ?? "").trim().split(/\r?\n/u);
    if (containerId !== "" && stats !== undefined) leases.push({ path, containerId, ifname, writtenMs: stats.mtimeMs });
  }
  return leases;
}

/** Whether a lease is there as it was found. */
export function isHeld({ path, writtenMs }: Lease): boolean {
  return attempt(() => lstatSync(path).mtimeMs) === writtenMs;
}

function addressesIn(directory: string): readonly string[] {
  const names = attempt(() => readdirSync(directory)) ?? [];
  return names.filter((name) => readAddress(name) !== undefined).slice(0, most);
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
