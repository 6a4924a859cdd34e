// Sysctls under `net` of one of the two namespaces.

import type { LinksPlace } from "../sandbox/abi/generated/delegate-0.1.0.ts";

/** What became of a setting: the value before, or why it could not be made. `missing`: the kernel doesn't have it. */
export type Wrote = { readonly before: string } | { readonly missing: true } | { readonly why: string };

export interface Settings {
  /** `key` is a path below /proc/sys. */
  write(place: LinksPlace, key: string, value: string): Promise<Wrote>;
}
