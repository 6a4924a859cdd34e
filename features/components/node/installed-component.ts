// A component's file on this node, and the file with its signatures.

import { readFileSync, statSync } from "node:fs";
import { ok, type Result } from "../../../src/fault/result.ts";
import { maxSignaturesBytes, readSignatures, type SignedManifest, signaturesSuffix } from "../../../src/oci/signatures-file.ts";
import { digestOf } from "../registry/artifact-store.ts";
import { readRegularFile } from "../../../host/store/files/regular-file.ts";

/** The bytes of a regular file of at most `maxBytes`; undefined if there is none. Throws the errors of node:fs other than ENOENT. */
export function readComponentBytes(path: string, maxBytes: number): Uint8Array | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (!stats.isFile() || stats.size > maxBytes) throw new Error(`${path} is not a regular file of at most ${maxBytes} bytes`);
  return readFileSync(path);
}

/** The digest of the file's bytes; undefined if the file does not exist. Throws as `readComponentBytes`. */
export function installedDigest(path: string, maxBytes: number): string | undefined {
  const bytes = readComponentBytes(path, maxBytes);
  return bytes === undefined ? undefined : digestOf(bytes);
}

/** The signatures beside a component; none if there is no such file. Fault SIGNATURE_INVALID. */
export function installedSignatures(path: string): Result<readonly SignedManifest[]> {
  let text: string;
  try {
    text = readRegularFile(`${path}${signaturesSuffix}`, { maxBytes: maxSignaturesBytes, foreign: true });
  } catch {
    return ok([]);
  }
  return readSignatures(text);
}
