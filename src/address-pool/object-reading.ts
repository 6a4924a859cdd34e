// What the kinds AddressPool, AddressBlock and AddressReservation have in common. The API server validates them by their
// CustomResourceDefinitions, but another server or an older definition may answer.

import { describeJson, isJsonObject } from "../json/document.ts";
import { quote } from "../json/quote.ts";
import { type IpAddress, readAddress } from "../net/ip.ts";

/** The API group and version of the three kinds. */
export const poolApiVersion = "plexus.dev/v1alpha1";

/** An object, or the problem why it cannot be read, as the rest of a sentence that begins with the object's name. */
export type Reading<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

/** The metadata that Plexus uses. */
export interface ObjectMetadata {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  /** Whether the object's deletion was asked for. */
  readonly isDeleted: boolean;
  readonly finalizers: readonly string[];
}

/** The parts of an object. */
export interface ObjectParts {
  readonly metadata: ObjectMetadata;
  readonly spec: Readonly<Record<string, unknown>>;
  /** Empty if the object has none. */
  readonly status: Readonly<Record<string, unknown>>;
}

/** A failed reading. */
export function problem(text: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem: text };
}

/** Reads the parts of a cluster-scoped object. */
export function readParts(object: unknown): Reading<ObjectParts> {
  const metadata = isJsonObject(object) ? object["metadata"] : undefined;
  if (!isJsonObject(object) || !isJsonObject(metadata)) return problem(`metadata is ${describeJson(metadata)}`);
  const { name, uid, resourceVersion, generation = 0, deletionTimestamp, finalizers = [] } = metadata;
  if (typeof name !== "string" || name === "") return problem(`metadata.name is ${describeJson(name)}`);
  if (typeof uid !== "string" || uid === "") return problem(`metadata.uid is ${describeJson(uid)}`);
  if (typeof resourceVersion !== "string") return problem(`metadata.resourceVersion is ${describeJson(resourceVersion)}`);
  const { spec, status = {} } = object;
  if (!isJsonObject(spec)) return problem(`spec is ${describeJson(spec)}`);
  return {
    ok: true,
    value: {
      metadata: {
        name,
        uid,
        resourceVersion,
        generation: typeof generation === "number" ? generation : 0,
        isDeleted: typeof deletionTimestamp === "string",
        finalizers: Array.isArray(finalizers) ? finalizers.filter((each) => typeof each === "string") : [],
      },
      spec,
      status: isJsonObject(status) ? status : {},
    },
  };
}

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
