// The slices of each query, so that the work on a query looks at no slice of another one.

import type { AddressSlice } from "../rules/address-slice.ts";
import { keyOf } from "./query-key.ts";

/** Slices by the key of their query. */
export class SliceIndex {
  readonly #slicesOf = new Map<string, Map<string, AddressSlice>>();
  /** The key of each slice, by `NAMESPACE/NAME`. */
  readonly #keys = new Map<string, string>();

  /** Puts a slice in place of its previous version; undefined: the slice is gone, or cannot be read. Answers the keys of the queries that are concerned. */
  put(namespace: string, name: string, slice: AddressSlice | undefined): ReadonlySet<string> {
    const place = `${namespace}/${name}`;
    const before = this.#keys.get(place);
    const id = slice?.id ?? idOfName(name);
    const after = id === undefined ? undefined : keyOf({ namespace, id });
    if (before !== undefined) {
      const slices = this.#slicesOf.get(before);
      slices?.delete(name);
      if (slices?.size === 0) this.#slicesOf.delete(before);
      this.#keys.delete(place);
    }
    if (slice !== undefined && after !== undefined) {
      this.#slicesOf.set(after, (this.#slicesOf.get(after) ?? new Map()).set(name, slice));
      this.#keys.set(place, after);
    }
    return new Set([before, after].filter((key) => key !== undefined));
  }

  /** The slices of a query, by their numbers. */
  slicesOf(key: string): readonly AddressSlice[] {
    return [...(this.#slicesOf.get(key)?.values() ?? [])].toSorted((one, other) => numberOf(one) - numberOf(other));
  }
}

/** The number in a slice's name. */
export function numberOf({ metadata: { name } }: AddressSlice): number {
  return Number(name.slice(name.lastIndexOf("-") + 1));
}

/** The id in the name of a slice that cannot be read. */
function idOfName(name: string): string | undefined {
  return /^peers-([0-9a-f]{32})-\d+$/.exec(name)?.[1];
}
