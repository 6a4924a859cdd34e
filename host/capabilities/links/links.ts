// Binds the capability `links` to one call.

import type { LinksCapability } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { type Deferred, witOutcome } from "../outcome.ts";
import { apply, type LinkShim } from "./apply.ts";
import { LinkAliases } from "./link-aliases.ts";
import type { LinkScope } from "./link-scope.ts";
import { defaultLink, neighbours, read, routes } from "./read.ts";

/** The WIT interface `links`; its functions answer when the shim has. */
export type Links = Deferred<LinksCapability>;

/** The capability for the delegate of one call. `clock`: monotonic milliseconds. */
export function linksFor(granted: LinkScope, shim: LinkShim, clock: () => number): Links {
  const scope = { ...granted, aliases: new LinkAliases() };
  return {
    apply: async (operations) => witOutcome(await apply(scope, shim, clock, operations)),
    read: async (names) => witOutcome(await read(scope, shim, names)),
    routes: async (link) => witOutcome(await routes(scope, shim, link)),
    defaultLink: async (place) => witOutcome(await defaultLink(scope, shim, place)),
    neighbours: async (link) => witOutcome(await neighbours(scope, shim, link)),
  };
}
