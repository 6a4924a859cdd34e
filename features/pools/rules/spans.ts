// Spans of addresses: intersection and difference. Addresses are bigints, because an IPv6 range exceeds a number.

import { type Family, formatAddress, type IpAddress, networkOf, readAddress, readCidr } from "../../../src/net/ip.ts";

/** Addresses from `first` to `last`, both included, of one family. */
export interface AddressSpan {
  readonly family: Family;
  readonly first: bigint;
  readonly last: bigint;
}

/** The addresses that both spans have; undefined if there are none. */
export function intersection(one: AddressSpan, other: AddressSpan): AddressSpan | undefined {
  if (one.family !== other.family) return undefined;
  const first = one.first > other.first ? one.first : other.first;
  const last = one.last < other.last ? one.last : other.last;
  return first > last ? undefined : { family: one.family, first, last };
}

/** The addresses that are in a span of both lists, in the order of `spans`. */
export function intersections(spans: readonly AddressSpan[], others: readonly AddressSpan[]): AddressSpan[] {
  return spans.flatMap((span) => others.flatMap((other) => intersection(span, other) ?? []));
}

/** The addresses of `span` that are in none of `holes`, in ascending order. */
export function without(span: AddressSpan, holes: readonly AddressSpan[]): AddressSpan[] {
  let rest: readonly AddressSpan[] = [span];
  for (const hole of holes) rest = rest.flatMap((each) => withoutOne(each, hole));
  return [...rest];
}

function withoutOne(span: AddressSpan, hole: AddressSpan): AddressSpan[] {
  const cut = intersection(span, hole);
  if (cut === undefined) return [span];
  const { family, first, last } = span;
  return [
    ...(first < cut.first ? [{ family, first, last: cut.first - 1n }] : []),
    ...(cut.last < last ? [{ family, first: cut.last + 1n, last }] : []),
  ];
}

/** Whether a span of the list has the address. */
export function hasAddress(spans: readonly AddressSpan[], { family, value }: IpAddress): boolean {
  return spans.some((span) => span.family === family && value >= span.first && value <= span.last);
}

/** The number of addresses in the spans, which must not overlap. */
export function sizeOf(spans: readonly AddressSpan[]): bigint {
  return spans.reduce((sum, { first, last }) => sum + (last - first + 1n), 0n);
}

/** Reads an address or a network ("10.1.2.0/24", host bits are ignored); undefined if the text is neither. */
export function readSpan(text: string): AddressSpan | undefined {
  const cidr = readCidr(text);
  if (cidr !== undefined) {
    const { first, last } = networkOf(cidr);
    return { family: first.family, first: first.value, last: last.value };
  }
  const address = readAddress(text);
  return address && { family: address.family, first: address.value, last: address.value };
}

/** "10.1.2.0-10.1.2.63". */
export function formatSpan({ family, first, last }: AddressSpan): string {
  return `${formatAddress({ family, value: first })}-${formatAddress({ family, value: last })}`;
}
