// The addresses that a pod asks for, in the one form in which providers get them.

import { formatAddress, readAddress, readCidr } from "../net/ip.ts";
import { parseHardwareAddress } from "../npwg/hardware-address.ts";

/** A pod's request. */
export interface RequestedValues {
  readonly mac?: string;
  readonly ips?: readonly string[];
}

/**
 * The request with addresses in canonical form without their prefix lengths, and the MAC address in small letters with colons. A selection may have each
 * in several forms. A value that is none stays as it is: the provider refuses it.
 */
export function canonicalRequest({ mac, ips }: RequestedValues): RequestedValues {
  return {
    ...(mac === undefined ? {} : { mac: parseHardwareAddress(mac)?.text.toLowerCase() ?? mac }),
    ...(ips === undefined ? {} : { ips: ips.map(canonicalAddress) }),
  };
}

function canonicalAddress(text: string): string {
  const address = readCidr(text)?.address ?? readAddress(text);
  return address === undefined ? text : formatAddress(address);
}
