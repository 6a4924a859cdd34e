// Reads the leases in a network's directory, in the format of host-local (native or WASM).

import { lstatSync, readdirSync } from "node:fs";
import { readAddress } from "../../../src/net/ip.ts";
import type { Lease, LeaseFile } from "../../../src/reconcile/lease-owners.ts";
import { isOwnerless, LeaseReader } from "../../capabilities/leases/lease-file.ts";
import { inTurns } from "../../system/in-turns.ts";

/** Maximum files of one directory that one round reads. */
const maxFiles = 8192;

/** The leases of directories. */
export interface LeaseList {
  readonly leases: readonly Lease[];
  /** Leases whose content names no owner. */
  readonly ownerless: readonly LeaseFile[];
}

/** The leases in the directory; none if the directory does not exist or the daemon may not read it. */
export async function leasesIn(directory: string): Promise<LeaseList> {
  const reader = new LeaseReader();
  const leases: Lease[] = [];
  const ownerless: LeaseFile[] = [];
  for await (const name of inTurns(addressesIn(directory))) {
    const path = `${directory}/${name}`;
    const content = attempt(() => reader.read(path));
    const stats = attempt(() => lstatSync(path, { throwIfNoEntry: false }));
    if (content === undefined || stats === undefined) continue;
    const [containerId = "", ifname = ""] = content.trim().split(/\r?\n/u);
    if (isOwnerless(content)) ownerless.push({ path, writtenAt: stats.mtimeMs });
    else leases.push({ path, containerId, ifname, writtenAt: stats.mtimeMs });
  }
  return { leases, ownerless };
}

/** Whether the lease file still exists unchanged. */
export function isHeld({ path, writtenAt }: LeaseFile): boolean {
  return attempt(() => lstatSync(path).mtimeMs) === writtenAt;
}

function addressesIn(directory: string): readonly string[] {
  const names = attempt(() => readdirSync(directory)) ?? [];
  return names.filter((name) => readAddress(name) !== undefined).slice(0, maxFiles);
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
