// Signs manifests as cosign 3 does with a key: a Sigstore bundle of version 0.3, stored as a referrer of the manifest (cosign's specs/
// BUNDLE_SPEC.md). Made with node:crypto only, so that nothing of the code under test takes part.

import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";

/** A key pair as `cosign generate-key-pair` makes it: ECDSA on P-256. */
export interface SigningKey {
  readonly privateKey: KeyObject;
  /** The public key in PEM, as in cosign.pub. */
  readonly pem: string;
}

/** Makes a key pair. */
export function makeSigningKey(): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { privateKey, pem: publicKey.export({ type: "spki", format: "pem" }).toString() };
}

const statementType = "application/vnd.in-toto+json";
const signPredicate = "https://sigstore.dev/cosign/sign/v1";
const bundleType = "application/vnd.dev.sigstore.bundle.v0.3+json";

/** The statement `cosign sign` makes about a manifest's digest. */
export function signStatement(manifestDigest: string, predicateType = signPredicate): string {
  const [, hex] = manifestDigest.split(":");
  return JSON.stringify({
    _type: "https://in-toto.io/Statement/v1",
    subject: [{ digest: { sha256: hex }, annotations: {} }],
    predicateType,
    predicate: {},
  });
}

/** A bundle with a DSSE envelope around the statement. */
export function dsseBundle({ privateKey, pem }: SigningKey, statement: string): string {
  const payload = Buffer.from(statement);
  const head = Buffer.from(`DSSEv1 ${statementType.length} ${statementType} ${payload.length} `);
  const signature = sign("sha256", Buffer.concat([head, payload]), privateKey);
  return JSON.stringify({
    mediaType: bundleType,
    verificationMaterial: material(pem),
    dsseEnvelope: {
      payload: payload.toString("base64"),
      payloadType: statementType,
      signatures: [{ sig: signature.toString("base64") }],
    },
  });
}

/** A bundle with a signature of the manifest's own bytes. */
export function messageBundle({ privateKey, pem }: SigningKey, manifest: string): string {
  const digest = createHash("sha256").update(manifest).digest("base64");
  return JSON.stringify({
    mediaType: bundleType,
    verificationMaterial: material(pem),
    messageSignature: {
      messageDigest: { algorithm: "SHA2_256", digest },
      signature: sign("sha256", Buffer.from(manifest), privateKey).toString("base64"),
    },
  });
}

function material(pem: string): object {
  const der = Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ""), "base64");
  return { publicKey: { hint: createHash("sha256").update(der).digest("base64") } };
}

function descriptor(mediaType: string, text: string): object {
  const digest = `sha256:${createHash("sha256").update(text).digest("hex")}`;
  return { mediaType, digest, size: Buffer.byteLength(text) };
}

/** The contents that a registry gets for a bundle, and the manifest that makes it a referrer of the signed manifest. */
export function bundleArtifact(
  bundle: string,
  subject: { readonly text: string },
): { readonly blobs: readonly string[]; readonly manifest: string } {
  const content = bundle.includes("dsseEnvelope") ? "dsse-envelope" : "message-signature";
  const manifest = {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    artifactType: bundleType,
    config: descriptor("application/vnd.oci.empty.v1+json", "{}"),
    layers: [descriptor(bundleType, bundle)],
    subject: descriptor("application/vnd.oci.image.manifest.v1+json", subject.text),
    annotations: {
      "dev.sigstore.bundle.content": content,
      "dev.sigstore.bundle.predicateType": signPredicate,
      "org.opencontainers.image.created": "2026-11-23T00:00:00Z",
    },
  };
  return { blobs: ["{}", bundle], manifest: JSON.stringify(manifest) };
}
