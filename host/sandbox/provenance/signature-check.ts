// Whether one of a component's manifests is signed by a key.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { componentLayer, readManifest } from "../../../src/oci/manifest.ts";
import type { SignedManifest } from "../../../src/oci/signatures-file.ts";
import { readKeyText } from "./key-file.ts";

/** A component's digest, its manifests with their bundles, and the key that must have signed one of them. */
export interface SignatureTerms {
  /** Digest of the component's bytes; a manifest that names another one is ignored. */
  readonly digest: string;
  readonly manifests: readonly SignedManifest[];
  readonly keyName: string;
  /** The key: a PEM text, or the path of such a file. */
  readonly key: string;
}

/** The digest of the manifest that the key has signed. Faults SIGNATURE_MISSING, SIGNATURE_INVALID, SIGNATURE_KEY_UNUSABLE. */
export async function checkSignature({ digest, manifests, keyName, key }: SignatureTerms): Promise<Result<string>> {
  const pem = readKeyText(key, keyName);
  if (!pem.ok) return pem;
  const { bundleProblem, readPublicKey } = await import("./verify-bundle.ts");
  const { hash } = process.getBuiltinModule("node:crypto");
  const publicKey = readPublicKey(pem.value, keyName);
  if (!publicKey.ok) return publicKey;
  const problems: string[] = [];
  for (const { manifest: text, bundles } of manifests) {
    const manifest = readManifest(text);
    const layer = manifest.ok ? componentLayer(manifest.value, Infinity) : manifest;
    if (!layer.ok || layer.value.digest !== digest) continue;
    const signed = { text, digest: `sha256:${hash("sha256", text, "hex")}` };
    for (const bundle of bundles) {
      const problem = bundleProblem(bundle, signed, publicKey.value);
      if (problem === undefined) return ok(signed.digest);
      problems.push(problem);
    }
  }
  if (problems.length === 0)
    return failed(fault("SIGNATURE_MISSING", `${digest} must be signed by ${keyName}, but has no signature`));
  const why = [...new Set(problems)].slice(0, 3).join("; ");
  return failed(fault("SIGNATURE_INVALID", `none of ${problems.length} signatures of ${digest} is one by ${keyName}: ${why}`));
}
