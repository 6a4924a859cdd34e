// When a DHCP lease is renewed (RFC 2131 section 4.4.5). Pure.

import type { LeaseTerms } from "../../src/dhcp/lease-terms.ts";

/** The next action for a lease: none before `renewAt`, a request to its server, a request to any server, or its end. Times are those of day, in milliseconds. */
export type LeaseNeed =
  | { readonly need: "nothing"; readonly renewAt: number }
  | { readonly need: "renew" | "rebind"; readonly nextAt: number }
  | { readonly need: "end" };

/** RFC 2131 has a minute between two tries; short leases have less. */
const maxPauseMs = 60_000;
const minPauseMs = 1000;

/** The need of a lease that was acknowledged at `acknowledgedMs`. `nextAt`: the time of the next try if this one fails. */
export function leaseNeed(
  { renewSeconds, rebindSeconds, leaseSeconds }: Pick<LeaseTerms, "renewSeconds" | "rebindSeconds" | "leaseSeconds">,
  acknowledgedMs: number,
  nowMs: number,
): LeaseNeed {
  const [renewAt, rebindAt, endAt] = [renewSeconds, rebindSeconds, leaseSeconds].map((each) => acknowledgedMs + each * 1000);
  if (renewAt === undefined || rebindAt === undefined || endAt === undefined) return { need: "end" };
  // A clock that was set back must not keep an address forever: it counts as the moment of the acknowledgement.
  if (nowMs < acknowledgedMs - maxPauseMs) return { need: "renew", nextAt: nowMs + maxPauseMs };
  if (nowMs < renewAt) return { need: "nothing", renewAt };
  if (nowMs >= endAt) return { need: "end" };
  const [need, until] = nowMs < rebindAt ? (["renew", rebindAt] as const) : (["rebind", endAt] as const);
  const pauseMs = Math.min(maxPauseMs, Math.max(minPauseMs, (until - nowMs) / 2));
  return { need, nextAt: Math.min(nowMs + pauseMs, until) };
}
