// Binds the capability `links` to one call.

import type { Result } from "../../src/fault/result.ts";
import type { Fault as WitFault, LinksCapability } from "../sandbox/abi/generated/delegate-0.1.0.ts";
import type { Outcome } from "../sandbox/abi/guest.ts";
import { apply, type LinkHands } from "./apply.ts";
import type { LinkScope } from "./link-scope.ts";
import { defaultLink, neighbours, read, routes } from "./read.ts";

type Deferred<F> = F extends (...args: infer A) => infer R ? (...args: A) => Promise<R> : never;

/** The WIT's interface `links`, answering when the hands have. */
export type Links = { readonly [F in keyof LinksCapability]: Deferred<LinksCapability[F]> };

/** The capability as the delegate of this one call gets it. `clock`: milliseconds that never go back. */
export function linksFor(scope: LinkScope, hands: LinkHands, clock: () => number): Links {
  return {
    apply: async (operations) => outcome(await apply(scope, hands, clock, operations)),
    read: async (names) => outcome(await read(scope, hands, names)),
    routes: async (link) => outcome(await routes(scope, hands, link)),
    defaultLink: async (place) => outcome(await defaultLink(scope, hands, place)),
    neighbours: async (link) => outcome(await neighbours(scope, hands, link)),
  };
}

function outcome<T>(result: Result<T>): Outcome<T, WitFault> {
  if (result.ok) return { ok: result.value };
  const { code, msg, details } = result.fault;
  return { err: { code, msg, details } };
}
