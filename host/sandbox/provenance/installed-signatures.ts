// Reads the file with a component's signatures on this node, by a program that needs no shim.

import { ok, type Result } from "../../../src/fault/result.ts";
import { maxSignaturesBytes, readSignatures, type SignedManifest, signaturesSuffix } from "../../../src/oci/signatures-file.ts";
import { readRegularFile } from "../../store/files/regular-file.ts";

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
