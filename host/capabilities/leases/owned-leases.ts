// Looks for an attachment's leases without a lock: a lease appears whole, and no other call changes this owner's.

import { readdirSync, statSync } from "node:fs";
import { formatAddress, readAddress } from "../../../src/net/ip.ts";
import { holdingOf, LeaseReader, type Owner } from "./lease-file.ts";
import { hasCode } from "./store-fault.ts";

/** A network's directory with leases, and the directory above. */
export interface LeasePath {
  readonly path: string;
  readonly root: string;
}

/**
 * The addresses that the owner still holds in a directory. `addresses`: those to look for; undefined: all files are read. Answers `unseen` if this
 * process can't look: a daemon in a container sees the mounted directories only.
 */
export function ownedLeases(
  { path, root }: LeasePath,
  owner: Owner,
  addresses: readonly string[] | undefined,
): readonly string[] | "unseen" {
  try {
    if (!statSync(root).isDirectory()) return "unseen";
    const names = addresses?.map(canonical) ?? namesIn(path);
    const reader = new LeaseReader();
    const holding = holdingOf(owner);
    return names.filter((name) => {
      const content = readAddress(name) === undefined ? undefined : reader.read(`${path}/${name}`);
      return content !== undefined && holding(content) === "owner";
    });
  } catch {
    return "unseen";
  }
}

function canonical(address: string): string {
  const read = readAddress(address);
  return read === undefined ? address : formatAddress(read);
}

function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    // No plugin has reserved an address of the network.
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
}
