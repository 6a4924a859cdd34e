// Verifies a Sigstore bundle with a public key, offline. Loaded only where a signature is demanded: it imports @sigstore/verify.

import { bundleFromJSON } from "@sigstore/bundle";
import { toSignedEntity, toTrustMaterial, Verifier } from "@sigstore/verify";
import { createPublicKey, type KeyObject } from "node:crypto";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { statementPayloadType, statementProblem } from "../../../src/oci/statement.ts";

/** Reads a public key's PEM text; `name` is for messages. Fault SIGNATURE_KEY_UNUSABLE. */
export function readPublicKey(pem: string, name: string): Result<KeyObject> {
  let key: KeyObject;
  try {
    key = createPublicKey(pem);
  } catch (error) {
    return unusable(name, error instanceof Error ? error.message : String(error));
  }
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  // Signatures of other keys are made over other hashes than SHA-256, or over none.
  if (type === "ec" && details?.namedCurve === "prime256v1") return ok(key);
  if (type === "rsa" && (details?.modulusLength ?? 0) >= 2048) return ok(key);
  const kind = [type, details?.namedCurve, details?.modulusLength].filter((each) => each !== undefined).join(" ");
  return unusable(name, `its kind is ${kind}; ECDSA on P-256 and RSA from 2048 bits are supported`);
}

/**
 * Why the bundle is no signature of the manifest by this key, as one phrase; undefined if it is one. Entries of a transparency log and
 * timestamps are not examined: the administrator trusts the key itself.
 */
export function bundleProblem(
  bundleText: string,
  manifest: { readonly text: string; readonly digest: string },
  key: KeyObject,
): string | undefined {
  try {
    const bundle = bundleFromJSON(JSON.parse(bundleText));
    if (bundle.verificationMaterial.content?.$case !== "publicKey") return "it was made with a certificate, not with a key";
    const noAuthorities = { mediaType: "", tlogs: [], certificateAuthorities: [], ctlogs: [], timestampAuthorities: [] };
    const trusted = toTrustMaterial(noAuthorities, () => ({ publicKey: key, validFor: () => true }));
    const verifier = new Verifier(trusted, { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 });
    // For a message signature the message is the manifest. A DSSE envelope has a statement, which must name the manifest's digest.
    verifier.verify({ ...toSignedEntity(bundle, Buffer.from(manifest.text)), tlogEntries: [], timestamps: [] });
    if (bundle.content.$case === "messageSignature") return undefined;
    const { payloadType, payload } = bundle.content.dsseEnvelope;
    if (payloadType !== statementPayloadType) return `its payload is ${payloadType}, not ${statementPayloadType}`;
    return statementProblem(payload.toString("utf8"), manifest.digest);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function unusable(name: string, why: string): Result<never> {
  return failed(fault("SIGNATURE_KEY_UNUSABLE", `the key ${name}: ${why}`));
}
