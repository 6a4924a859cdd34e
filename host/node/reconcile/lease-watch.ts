// Finds leases without an attachment. If the journal once had the lease's owner, the lease was kept by mistake and is freed, and so is a lease
// without an owner, and a lease that an earlier boot left. All other leases are only reported: podman, nerdctl or a runtime that calls host-local
// itself may own them.

import { type Departed, type Lease, ownershipOf } from "../../../src/reconcile/lease-owners.ts";
import type { Listed, ListedEntry } from "./entry-list.ts";
import type { LeaseDirectories } from "../../store/files/lease-directories.ts";
import type { LeaseFile } from "../../../src/reconcile/lease-owners.ts";
import { type LeaseList, leasesIn } from "./lease-list.ts";

/** Maximum attachments that are remembered after they left the journal. */
const maxDeparted = 2048;

/** An attachment that left the journal, with its entry. */
export interface DepartedAttachment extends Departed {
  readonly listed: ListedEntry;
}

/**
 * `kept`: leases whose attachment left the journal. `unknown`: leases whose owner the journal never had. `lasting`: those of them that two rounds found.
 * `unclear`: leases of containers with a damaged entry or an abandoned attachment, which may be theirs as long as this boot lasts.
 */
export interface LeaseFindings {
  readonly kept: readonly { readonly lease: Lease; readonly attachment: DepartedAttachment }[];
  readonly unknown: readonly Lease[];
  readonly lasting: readonly Lease[];
  readonly unclear: readonly Lease[];
}

/** The leases of one state directory, from round to round. */
export class LeaseWatch {
  #before: readonly ListedEntry[] = [];
  #departed: readonly DepartedAttachment[] = [];
  #unknown: ReadonlySet<string> = new Set();
  #ownerless: ReadonlyMap<string, number> = new Map();

  /** The leases in all directories that the state directory's attachments use or used. Read them before the journal. */
  async read({ all: directories }: LeaseDirectories): Promise<LeaseList> {
    const lists: LeaseList[] = [];
    for (const directory of directories) lists.push(await leasesIn(directory));
    return { leases: lists.flatMap(({ leases }) => leases), ownerless: lists.flatMap(({ ownerless }) => ownerless) };
  }

  /** The leases without an owner, each with whether the last round saw it unchanged. */
  lasting(ownerless: readonly LeaseFile[]): readonly { readonly path: string; readonly lasts: boolean }[] {
    const before = this.#ownerless;
    this.#ownerless = new Map(ownerless.map(({ path, writtenAt }) => [path, writtenAt]));
    return ownerless.map(({ path, writtenAt }) => ({ path, lasts: before.get(path) === writtenAt }));
  }

  /** Records the current entries. Answers the entries that left the journal and may have kept a lease. `nowMs`: time of day. */
  note(entries: readonly ListedEntry[], leases: readonly Lease[], nowMs: number): readonly ListedEntry[] {
    const present = new Set(entries.map(({ id }) => id));
    const held = new Set(leases.map(({ containerId, ifname }) => `${containerId}\n${ifname}`));
    const still = this.#departed.filter(({ containerId, ifname }) => held.has(`${containerId}\n${ifname}`));
    const gone = this.#before.filter(({ id, leasePlaces }) => !present.has(id) && leasePlaces.length > 0);
    const fresh = gone.flatMap((listed) =>
      listed.entry.plan.attachments.map(({ ifname }) => ({
        containerId: listed.key.containerId,
        ifname,
        departedAt: nowMs,
        listed,
      })),
    );
    this.#departed = [...still, ...fresh].slice(-maxDeparted);
    this.#before = entries;
    return [...new Map(this.#departed.map(({ listed }) => [listed.id, listed])).values()];
  }

  /** The leases whose owner is not in the journal. `leases` were read before the journal. `abandoned`: containers with abandoned attachments. */
  findings(leases: readonly Lease[], { entries, damaged }: Listed, abandoned: readonly string[]): LeaseFindings {
    const attached = entries.flatMap(({ entry, key: { containerId } }) =>
      entry.plan.attachments.map(({ ifname }) => ({ containerId, ifname })),
    );
    const containers = new Set([...damaged.map(({ key }) => key.containerId), ...abandoned]);
    const ownerOf = ownershipOf(attached, this.#departed);
    const kept: { lease: Lease; attachment: DepartedAttachment }[] = [];
    const unknown: Lease[] = [];
    const unclear: Lease[] = [];
    for (const lease of leases) {
      if (containers.has(lease.containerId)) {
        unclear.push(lease);
        continue;
      }
      const ownership = ownerOf(lease);
      if (ownership.owner === "unknown") unknown.push(lease);
      else if (ownership.owner === "departed") kept.push({ lease, attachment: ownership.attachment });
    }
    // Only leases that two rounds find are reported: between reading leases and journal, a DEL may have removed the entry and its lease.
    const before = this.#unknown;
    this.#unknown = new Set(unknown.map(({ path }) => path));
    return { kept, unknown, lasting: unknown.filter(({ path }) => before.has(path)), unclear };
  }
}
