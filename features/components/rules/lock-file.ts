// The lock file: the components that `plexusctl component pull` installed on this node, by digest and signer.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { typePattern } from "./component-list.ts";
import { isDigest } from "../../../src/oci/digest.ts";

/** One installed component. */
export interface LockedComponent {
  readonly type: string;
  /** Path of the component's file. */
  readonly file: string;
  /** Digest of the component's bytes. */
  readonly digest: string;
  readonly manifestDigest: string;
  /** The reference from which the component came, as the administrator wrote it. */
  readonly source: string;
  /** Name of the key that signed the manifest; undefined if no signature was demanded. */
  readonly signer: string | undefined;
}

/** Maximum size of the file, in bytes. */
export const maxLockBytes = 1024 * 1024;
const apiVersion = "plexus/v1";
const kind = "ComponentLock";

/** The file's content, ordered by type. */
export function lockText(components: readonly LockedComponent[]): string {
  const ordered = components.toSorted((one, other) => (one.type < other.type ? -1 : 1));
  return `${JSON.stringify({ apiVersion, kind, components: ordered }, undefined, 2)}\n`;
}

/** Reads the file; `path` is for messages. Fault STORE_FAILED. */
export function readLock(text: string, path: string): Result<readonly LockedComponent[]> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return invalid(path, "it is not JSON");
  }
  const components = isJsonObject(value) && value["kind"] === kind ? value["components"] : undefined;
  if (!Array.isArray(components)) return invalid(path, `it is no ${kind} of ${apiVersion}`);
  const read: LockedComponent[] = [];
  for (const [index, each] of components.entries()) {
    const { type, file, digest, manifestDigest, source, signer }: Readonly<Record<string, unknown>> = isJsonObject(each)
      ? each
      : {};
    const isWhole =
      typeof type === "string" &&
      typePattern.test(type) &&
      typeof file === "string" &&
      typeof source === "string" &&
      isDigest(digest) &&
      isDigest(manifestDigest) &&
      (signer === undefined || typeof signer === "string");
    if (!isWhole) return invalid(path, `components.${index} lacks a member or has one of another form`);
    read.push({ type, file, digest, manifestDigest, source, signer });
  }
  return ok(read);
}

function invalid(path: string, why: string): Result<never> {
  return failed(fault("STORE_FAILED", `the lock file ${path} can't be used: ${why}`));
}
