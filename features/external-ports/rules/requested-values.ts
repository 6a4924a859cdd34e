// The addresses that a pod asks for, in the one form in which providers get them.

import { formatAddress, readAddress, readCidr } from "../../../src/net/ip.ts";
import { quote } from "../../../src/json/quote.ts";
import { parseHardwareAddress } from "../../../src/npwg/hardware-address.ts";
import type { ProvidedPort } from "./provided-port.ts";

/** A pod's request. */
export interface RequestedValues {
  readonly mac?: string;
  readonly ips?: readonly string[];
}

/**
 * The request with addresses in canonical form without their prefix lengths, and the MAC address in small letters with colons. A selection may have each
 * in several forms. A text that is no address stays as it is: the provider refuses it.
 */
export function canonicalRequest({ mac, ips }: RequestedValues): RequestedValues {
  return {
    ...(mac === undefined ? {} : { mac: parseHardwareAddress(mac)?.text.toLowerCase() ?? mac }),
    ...(ips === undefined ? {} : { ips: ips.map(canonicalAddress) }),
  };
}

/** A sentence about the first requested value that the port lacks, without a full stop; undefined if the port has all. The request is in canonical form. */
export function requestedProblem(
  { mac, ips = [] }: RequestedValues,
  port: Pick<ProvidedPort, "mac" | "addresses">,
): string | undefined {
  if (mac !== undefined && canonicalRequest({ mac: port.mac }).mac !== mac)
    return `the port has the MAC address ${port.mac}, and the pod requests ${quote(mac, 60)}`;
  const addresses = new Set(port.addresses.map(({ address }) => canonicalAddress(address)));
  const absent = ips.find((each) => !addresses.has(each));
  return absent === undefined ? undefined : `the port lacks the address ${quote(absent, 60)} that the pod requests`;
}

function canonicalAddress(text: string): string {
  const address = readCidr(text)?.address ?? readAddress(text);
  return address === undefined ? text : formatAddress(address);
}
