// The order in which addresses are reserved: round robin through the ranges of a set, as in native host-local. An address that was just
// released is the last to be reserved again.

import type { IpAddress } from "../../../src/net/ip.ts";

/** Addresses from `first` to `last`, both included, of one family. */
export interface Span {
  readonly family: 4 | 6;
  readonly first: bigint;
  readonly last: bigint;
}

/**
 * All addresses of `spans`, beginning after `last` and ending with `last`. If `last` is undefined or in no span, the first address is
 * the beginning. The generator makes each address when it is needed, because an IPv6 span can be huge.
 */
export function* roundRobin(spans: readonly Span[], last: IpAddress | undefined): Generator<IpAddress, undefined> {
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
