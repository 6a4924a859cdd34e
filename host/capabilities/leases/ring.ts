// The order in which addresses are handed out: round robin through the ranges of a set from the last one reserved,
// as native host-local goes, so that an address just given back is the last to be used again.

import type { IpAddress } from "../../src/net/ip.ts";

/** Addresses from `first` to `last`, both included, of one family. */
export interface Span {
  readonly family: 4 | 6;
  readonly first: bigint;
  readonly last: bigint;
}

/**
 * The addresses of `spans` once around, beginning after `last` (or with the first address where `last` is absent or
 * in none of the spans), ending with `last` itself. Lazy: an IPv6 span is never written out.
 */
export function* onceAround(spans: readonly Span[], last: IpAddress | undefined): Generator<IpAddress, undefined> {
  const at = last === undefined ? -1 : spans.findIndex((span) => contains(span, last));
  if (last === undefined || at < 0) {
    for (const span of spans) yield* within(span, span.first, span.last);
    return;
  }
  const start = spans[at];
  if (start === undefined) return;
  yield* within(start, last.value + 1n, start.last);
  for (let i = 1; i < spans.length; i++) {
    const span = spans[(at + i) % spans.length];
    if (span !== undefined) yield* within(span, span.first, span.last);
  }
  yield* within(start, start.first, last.value);
}

/** Whether the span has the address. */
export function contains(span: Span, address: IpAddress): boolean {
  return span.family === address.family && address.value >= span.first && address.value <= span.last;
}

function* within(span: Span, first: bigint, last: bigint): Generator<IpAddress, undefined> {
  for (let value = first; value <= last; value++) yield { family: span.family, value };
}
