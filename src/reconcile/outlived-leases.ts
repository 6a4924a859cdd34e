// Decides whether a lease outlived its container: the lease was there in an earlier boot, and no network namespace outlives the kernel.

import type { Lease, LeaseOwner } from "./lease-owners.ts";

/** The container IDs of containerd, CRI-O, podman and Docker. An administrator's reservation has another text. */
const containerIdForm = /^[0-9a-f]{64}$/u;

/** Whether a runtime made this container ID. */
export function isRuntimesContainer(containerId: string): boolean {
  return containerIdForm.test(containerId);
}

/**
 * Whether a lease of an unknown owner is of an earlier boot. Two facts are needed, because a container manager may show its own boot id and a clock may
 * be set: another boot has shown the lease, and the lease was written before this boot. `firstBoot`: the boot that has shown the unchanged lease first.
 */
export function isOutlived(
  { containerId, writtenAt }: Pick<Lease, "containerId" | "writtenAt">,
  firstBoot: string | undefined,
  { bootId, bootedAt }: { readonly bootId: string; readonly bootedAt: number },
): boolean {
  // An empty boot id is an unknown one.
  const isAnother = firstBoot !== undefined && firstBoot !== "" && bootId !== "" && firstBoot !== bootId;
  return isRuntimesContainer(containerId) && isAnother && writtenAt < bootedAt;
}

/** The finding's text for a person: the lease's owner, and the remedy. */
export function remedyOf({ containerId, ifname }: LeaseOwner): string {
  if (!isRuntimesContainer(containerId)) {
    const owner = ifname === "" ? containerId : `${containerId}, ${ifname}`;
    return `its owner is ${owner}. If nothing needs the address, remove the file`;
  }
  const owner = ifname === "" ? `container ${containerId}` : `container ${containerId}, ${ifname}`;
  return `${owner} has it. If no runtime of this node knows the container, remove the file; the next boot frees it, too`;
}
