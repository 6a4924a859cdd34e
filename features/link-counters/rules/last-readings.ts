// The last reading of each link, by which increases are counted.

import type { BothDirections } from "../../../src/net/link-traffic.ts";
import { increase, type Reading, rates } from "./link-traffic.ts";

/** A link of a journal entry. */
export interface ReadLink {
  /** Identifies the link's interface in all entries. */
  readonly key: string;
  /** The id of the journal entry. */
  readonly entry: string;
  readonly index: number;
}

/** The traffic since the last reading. */
export interface Traffic {
  readonly increase: BothDirections;
  readonly rates: BothDirections;
}

/** The readings of one daemon. */
export class LastReadings {
  readonly #last = new Map<string, { readonly entry: string; readonly reading: Reading }>();
  /** The links that the node had before the daemon's start. */
  readonly #earlier = new Set<string>();

  /** Notes a link that had traffic before the daemon's start: its first reading is where counting begins. */
  noteEarlier(link: ReadLink): void {
    this.#earlier.add(identityOf(link));
  }

  /** Takes a reading in place of the link's last one. A link without a last one is new and counts from 0, unless the node had it before. */
  take(link: ReadLink, reading: Reading): Traffic {
    const last = this.#last.get(link.key)?.reading;
    const isEarlier = last === undefined && this.#earlier.has(identityOf(link));
    const before = isEarlier ? reading : last;
    this.#last.set(link.key, { entry: link.entry, reading });
    return { increase: increase(before, reading), rates: rates(last, reading) };
  }

  /**
   * Forgets the links of all other entries. A link that a round could not read keeps its reading as long as its entry is there: from 0 it would count twice.
   */
  keepOnly(entries: ReadonlySet<string>): void {
    for (const [key, { entry }] of this.#last) if (!entries.has(entry)) this.#last.delete(key);
  }
}

function identityOf({ key, index }: ReadLink): string {
  return `${key} ${index}`;
}
