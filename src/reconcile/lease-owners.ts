// Whose leases are. A directory of host-local may have several masters (podman, nerdctl, a runtime that calls the plugin itself): a lease
// that no attachment of ours explains is another's until the journal has known its owner.

/** A lease as its file says it. */
export interface Lease {
  /** The file. */
  readonly path: string;
  readonly containerId: string;
  /** Empty where a host-local before 0.7 wrote it. */
  readonly ifname: string;
  /** When it was last written, in ms of the time of day. */
  readonly writtenMs: number;
}

/** An attachment that the journal had and has no more. */
export interface Departed {
  readonly containerId: string;
  readonly ifname: string;
  /** When it was found to have gone, in ms of the time of day. */
  readonly departedMs: number;
}

export type Ownership<D extends Departed> =
  | { readonly whose: "ours" }
  /** Of an attachment that was undone, and kept its lease. */
  | { readonly whose: "departed"; readonly attachment: D }
  /** Of somebody of whom the journal says nothing. */
  | { readonly whose: "unknown" };

/** Tells whose leases are: `attached` are all of the journal, what was left behind included. */
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
  return ({ containerId, ifname, writtenMs }) => {
    if (owners.has(keyOf(containerId, ifname)) || (ifname === "" && containers.has(containerId))) return { whose: "ours" };
    const attachment = gone.get(keyOf(containerId, ifname));
    // Another call of the container may still be attached, and what was written since may be another's.
    const same = attachment !== undefined && !containers.has(containerId) && writtenMs <= attachment.departedMs;
    return same ? { whose: "departed", attachment } : { whose: "unknown" };
  };
}

function keyOf(containerId: string, ifname: string): string {
  return `${containerId}\n${ifname}`;
}
