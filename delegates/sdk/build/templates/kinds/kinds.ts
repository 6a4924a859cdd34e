// The kinds of plugins for which `plexus-delegate new --template` has a delegate.

import { ipam } from "./ipam.ts";
import type { Kind } from "./kind.ts";
import { main } from "./main.ts";
import { meta } from "./meta.ts";
import { policy } from "./policy.ts";

/** By the name on the command line. */
export const kinds = { main, ipam, meta, policy } as const satisfies Readonly<Record<string, Kind>>;

/** A kind's name on the command line. */
export type KindName = keyof typeof kinds;

/** The kind of a name; undefined for another text. */
export function kindNamed(name: string): KindName | undefined {
  return (Object.keys(kinds) as KindName[]).find((each) => each === name);
}
