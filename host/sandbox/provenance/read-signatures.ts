// Reads the file with a component's signatures, through the shim as the component itself.

import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { fault } from "../../../src/fault/fault.ts";
import { maxSignaturesBytes, readSignatures, type SignedManifest, signaturesSuffix } from "../../../src/oci/signatures-file.ts";
import type { Shim } from "../../protocol/shim.ts";
import { systemError } from "../../system/system-error.ts";

const enoent = 2;

/** The signatures of the component at `path`; none if there is no such file. Fault SIGNATURE_INVALID. */
export async function signaturesBeside(shim: Shim, path: string): Promise<Result<readonly SignedManifest[]>> {
  const { errno, content } = await shim.read({ path: `${path}${signaturesSuffix}`, cap: maxSignaturesBytes });
  if (errno === 0) return readSignatures(new TextDecoder().decode(content));
  if (errno === enoent) return ok([]);
  return failed(fault("SIGNATURE_INVALID", `${path}${signaturesSuffix} could not be read: ${systemError(errno)}`));
}
