// Lists of a pod's state in a DEL. A pod makes as many addresses, routes and rules as it likes: with all of them a DEL would exceed the limit of a delegate's
// input, and the pod would keep its link and its addresses.

import type { LinksPlace } from "../sandbox/abi/generated/delegate-1.1.0.ts";

/** Maximum number of entries of a list; far more than a network gives a pod. */
const maxEntries = 1024;

/** The list, or its beginning in a DEL. `place`: the side that it is about. */
export function listedFor<T>(call: { readonly verb: string }, place: LinksPlace, list: readonly T[]): readonly T[] {
  return call.verb === "DEL" && place === "pod" && list.length > maxEntries ? list.slice(0, maxEntries) : list;
}
