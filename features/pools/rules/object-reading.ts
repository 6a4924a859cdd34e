// Readers of the values in AddressPools, AddressBlocks and AddressReservations.

import { describeJson } from "../../../src/json/document.ts";
import { quote } from "../../../src/json/quote.ts";
import { problem, type Reading } from "../../../src/kube/object-parts.ts";
import { type IpAddress, readAddress } from "../../../src/net/ip.ts";

/** The API group and version of the three kinds. */
export const poolApiVersion = "plexus.dev/v1alpha1";

/** Reads a text of at most `maxLength` characters that is not empty. `place` is for the problem. */
export function readText(value: unknown, place: string, maxLength = 253): Reading<string> {
  if (typeof value !== "string") return problem(`${place} is ${describeJson(value)}`);
  if (value === "") return problem(`${place} is empty`);
  return value.length <= maxLength
    ? { ok: true, value }
    : problem(`${place} has ${value.length} characters; at most ${maxLength} are read`);
}

/** Reads a whole number from `min` to `max`. */
export function readInteger(value: unknown, place: string, min: number, max: number): Reading<number> {
  if (typeof value !== "number") return problem(`${place} is ${describeJson(value)}`);
  return Number.isInteger(value) && value >= min && value <= max
    ? { ok: true, value }
    : problem(`${place} is ${value}; it must be a whole number from ${min} to ${max}`);
}

/** Reads an address. */
export function readIp(value: unknown, place: string): Reading<IpAddress> {
  if (typeof value !== "string") return problem(`${place} is ${describeJson(value)}`);
  const address = readAddress(value);
  return address === undefined ? problem(`${place} ${quote(value, 60)} is not an IP address`) : { ok: true, value: address };
}
