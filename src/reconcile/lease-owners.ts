// Decides who owns a lease. A directory of host-local may have several users (podman, nerdctl, a runtime that calls the plugin
// itself). A lease that no attachment of Plexus explains belongs to another user, unless the journal once had its owner.

/** A lease, as read from its file. */
export interface Lease extends LeaseFile, LeaseOwner {}

/** The file of a lease. */
export interface LeaseFile {
  readonly path: string;
  /** The last write, in milliseconds of the time of day. */
  readonly writtenAt: number;
}

/** The attachment that a lease names. */
export interface LeaseOwner {
  readonly containerId: string;
  /** Empty if a host-local older than 0.7 wrote the lease. */
  readonly ifname: string;
}

/** An attachment that is no longer in the journal. */
export interface Departed {
  readonly containerId: string;
  readonly ifname: string;
  /** When the departure was noticed, in milliseconds of the time of day. */
  readonly departedAt: number;
}

/** The owner of a lease: `attached`: an attachment of the journal. */
export type Ownership<D extends Departed> =
  | { readonly owner: "attached" }
  /** The attachment was undone but its lease remained. */
  | { readonly owner: "departed"; readonly attachment: D }
  /** The journal never had the owner. */
  | { readonly owner: "unknown" };

/** Answers a function that decides a lease's ownership. `attached`: all attachments of the journal, including abandoned ones. */
export function ownershipOf<D extends Departed>(
  attached: Iterable<{ readonly containerId: string; readonly ifname: string }>,
  departed: Iterable<D>,
): (lease: Lease) => Ownership<D> {
  const containers = new Set<string>();
  const owners = new Set<string>();
  for (const { containerId, ifname } of attached) {
    containers.add(containerId);
    owners.add(keyOf(containerId, ifname));
  }
  const gone = new Map<string, D>();
  for (const each of departed) gone.set(keyOf(each.containerId, each.ifname), each);
  return ({ containerId, ifname, writtenAt }) => {
    if (owners.has(keyOf(containerId, ifname)) || (ifname === "" && containers.has(containerId))) return { owner: "attached" };
    const attachment = gone.get(keyOf(containerId, ifname));
    // Another attachment of the container may still be in use, and a lease written later may belong to another user.
    const same = attachment !== undefined && !containers.has(containerId) && writtenAt <= attachment.departedAt;
    return same ? { owner: "departed", attachment } : { owner: "unknown" };
  };
}

function keyOf(containerId: string, ifname: string): string {
  return `${containerId}\n${ifname}`;
}
