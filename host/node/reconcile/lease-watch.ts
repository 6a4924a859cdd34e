// Leases from one round to the next. One whose owner the journal has known, and has no more, was kept by mistake; of all others that
// no attachment explains it is only told: podman, nerdctl or a runtime that calls host-local by itself may be their master.

import { type Departed, type Lease, ownershipOf } from "../../src/reconcile/lease-owners.ts";
import type { Listed, ListedEntry } from "./entry-list.ts";
import { leasesIn } from "./lease-list.ts";

/** How many attachments that left the journal are remembered. */
const mostDeparted = 2048;

export interface DepartedAttachment extends Departed {
  readonly listed: ListedEntry;
}

export interface LeaseFindings {
  readonly kept: readonly { readonly lease: Lease; readonly attachment: DepartedAttachment }[];
  readonly unknown: readonly Lease[];
}

export class LeaseWatch {
  #before: readonly ListedEntry[] = [];
  #departed: readonly DepartedAttachment[] = [];
  #unknown: ReadonlySet<string> = new Set();

  /** The leases in all directories where attachments of the last round have any. To be read before the journal is. */
  async read(): Promise<readonly Lease[]> {
    const places = new Set(
      [...this.#before, ...this.#departed.map(({ listed }) => listed)].flatMap(({ leasePlaces }) => leasePlaces),
    );
    const all: Lease[] = [];
    for (const place of places) all.push(...(await leasesIn(place)));
    return all;
  }

  /** Takes note of the entries that there are now; answers those that have gone and may have kept a lease. */
  note(entries: readonly ListedEntry[], leases: readonly Lease[], nowMs: number): readonly ListedEntry[] {
    const present = new Set(entries.map(({ id }) => id));
    const held = new Set(leases.map(({ containerId, ifname }) => `${containerId}\n${ifname}`));
    const still = this.#departed.filter(({ containerId, ifname }) => held.has(`${containerId}\n${ifname}`));
    const gone = this.#before.filter(({ id, leasePlaces }) => !present.has(id) && leasePlaces.length > 0);
    const fresh = gone.flatMap((listed) =>
      listed.entry.plan.attachments.map(({ ifname }) => ({
        containerId: listed.key.containerId,
        ifname,
        departedMs: nowMs,
        listed,
      })),
    );
    this.#departed = [...still, ...fresh].slice(-mostDeparted);
    this.#before = entries;
    return [...new Map(this.#departed.map(({ listed }) => [listed.id, listed])).values()];
  }

  /** Leases, read before `listed` was, whose owner it doesn't have. `leftBehind`: containers of which anything may still be there. */
  findings(leases: readonly Lease[], { entries, damaged }: Listed, leftBehind: readonly string[]): LeaseFindings {
    const ours = entries.flatMap(({ entry, key: { containerId } }) =>
      entry.plan.attachments.map(({ ifname }) => ({ containerId, ifname })),
    );
    const unclear = new Set([...damaged.map(({ key }) => key.containerId), ...leftBehind]);
    const ownerOf = ownershipOf(ours, this.#departed);
    const kept: { lease: Lease; attachment: DepartedAttachment }[] = [];
    const unknown: Lease[] = [];
    for (const lease of leases) {
      if (unclear.has(lease.containerId)) continue;
      const owner = ownerOf(lease);
      if (owner.whose === "unknown") unknown.push(lease);
      else if (owner.whose === "departed") kept.push({ lease, attachment: owner.attachment });
    }
    // Once is not enough: its DEL may have come between our two looks.
    const before = this.#unknown;
    this.#unknown = new Set(unknown.map(({ path }) => path));
    return { kept, unknown: unknown.filter(({ path }) => before.has(path)) };
  }
}
