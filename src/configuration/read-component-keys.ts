// Reads public keys that sign components, by name, and what the configuration demands of a component's origin: `wasm.require`, and by type.

import { digestPattern, digestWanted } from "../oci/digest.ts";
import type { ObjectReader } from "./object-reader.ts";
import type { ComponentDemand, ComponentRequirement } from "./wasm-configuration.ts";

/** The name of a key. */
export const keyNamePattern = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,62}$/;
/** The description of a key's name in messages. */
export const keyNameWanted = "the name of a key: 1 to 63 letters, digits, _, . and -, the first a letter or a digit";
/** A public key: an absolute path, or the key itself as PEM. */
export const keyPattern = /^(?:\/[^\0]*|\s*-----BEGIN PUBLIC KEY-----[A-Za-z0-9+/=\s]{16,4096}-----END PUBLIC KEY-----\s*)$/;
/** The description of a key in messages. */
export const keyWanted = "a public key in PEM (-----BEGIN PUBLIC KEY-----), or the absolute path of such a file";

/** The keys by name. */
export function readKeys(reader: ObjectReader | undefined): Readonly<Record<string, string>> {
  const keys: [string, string][] = [];
  for (const name of reader?.keys() ?? []) {
    const key = reader?.matching(name, keyPattern, keyWanted);
    if (!keyNamePattern.test(name)) reader?.refuse(name, `must be ${keyNameWanted}`);
    else if (key !== undefined) keys.push([name, key]);
  }
  return Object.fromEntries(keys);
}

/**
 * The demands of one type's grants on the component; undefined without demands. No component meets a malformed demand, and a DEL
 * continues in spite of the mistake.
 */
export function readDemand(reader: ObjectReader, keys: Readonly<Record<string, string>>): ComponentDemand | undefined {
  const demands = ["digest", "signedBy"].some((key) => reader.value(key) !== undefined);
  if (!demands) return undefined;
  const digest = reader.matching("digest", digestPattern, digestWanted);
  const signedBy = reader.matching("signedBy", keyNamePattern, keyNameWanted);
  if (signedBy !== undefined && !Object.hasOwn(keys, signedBy)) reader.refuse("signedBy", noSuchKey(signedBy, keys));
  return {
    ...(reader.value("digest") === undefined ? {} : { digest: digest ?? "" }),
    ...(reader.value("signedBy") === undefined ? {} : { signedBy: signedBy ?? "" }),
  };
}

/**
 * The demand of `wasm.require` on every component; undefined without that key. A malformed requirement stays one that fewer components meet, or
 * none.
 */
export function readRequirement(reader: ObjectReader, keys: Readonly<Record<string, string>>): ComponentRequirement | undefined {
  if (reader.value("require") === undefined) return undefined;
  const section = reader.object("require");
  const signedBy = section?.allMatching("signedBy", keyNamePattern, keyNameWanted) ?? [];
  const digests = section?.allMatching("digests", digestPattern, digestWanted) ?? [];
  for (const name of signedBy) if (!Object.hasOwn(keys, name)) section?.refuse("signedBy", noSuchKey(name, keys));
  if (signedBy.length + digests.length === 0 && section !== undefined)
    reader.refuse("require", "must name keys in signedBy, or digests: no component would meet it");
  section?.end();
  return { anyOf: { signedBy, digests } };
}

/** Whether the grants of one type have `"require": false`. */
export function isExempt(reader: ObjectReader): boolean {
  const value = reader.value("require");
  if (value !== undefined && value !== false)
    reader.refuse("require", "must be false, which exempts the type from wasm.require, or absent");
  return value === false;
}

function noSuchKey(name: string, keys: Readonly<Record<string, string>>): string {
  const names = Object.keys(keys);
  return `wasm.keys has no key ${name} (it has ${names.length === 0 ? "none" : names.join(", ")})`;
}
