// The static address that an owner gets.

import { startOf } from "../rules/next-block.ts";
import { type AddressSpan, hasAddress } from "../rules/spans.ts";
import { formatAddress, type IpAddress, readCidr } from "../../../src/net/ip.ts";
import type { IpamClaim } from "../api/reservation-api.ts";

/** The address in a claim's status, if it is static and free: the claim may have been restored from a copy. */
export function earlierAddress(
  claim: IpamClaim | undefined,
  spans: readonly AddressSpan[],
  taken: ReadonlySet<string>,
): IpAddress | undefined {
  return claim?.ips
    .flatMap((text) => readCidr(text)?.address ?? [])
    .find((address) => hasAddress(spans, address) && !taken.has(formatAddress(address)));
}

/** The first free address from a place that the owner determines, so that nodes seldom want the same address. */
export function freeAddress(spans: readonly AddressSpan[], taken: ReadonlySet<string>, owner: string): IpAddress | undefined {
  const start = spans.length === 0 ? 0 : startOf("", owner, 2 ** 16);
  for (const [index, { family, first, last }] of spans.entries()) {
    const size = last - first + 1n;
    // An IPv6 span is larger than anything that can be taken.
    const tries = size > BigInt(taken.size + 1) ? BigInt(taken.size + 1) : size;
    const offset = index === 0 ? BigInt(start) % size : 0n;
    for (let step = 0n; step < tries; step++) {
      const address = { family, value: first + ((offset + step) % size) };
      if (!taken.has(formatAddress(address))) return address;
    }
  }
  return undefined;
}
