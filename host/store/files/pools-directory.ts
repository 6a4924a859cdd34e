// Where a node keeps the leases of the cluster's pools.

/** The directory for pools in a state directory (cniDir): a directory with leases for each pool. */
export function poolsDirectory(cniDir: string): string {
  return `${cniDir.replace(/\/+$/u, "")}/pools`;
}
