// Bundles as cosign 3 makes them with keys, and everything that must not count as a signature.

import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { sha256 } from "../../../test/lab/registry/component-node.ts";
import {
  dsseBundle,
  makeSigningKey,
  messageBundle,
  type SigningKey,
  signStatement,
} from "../../../test/lab/registry/cosign-bundle.ts";
import { bundleProblem, readPublicKey } from "./verify-bundle.ts";

const text = '{"schemaVersion":2}';
const manifest = { text, digest: sha256(text) };
const key = makeSigningKey();
const other = { text: "{}", digest: sha256("{}") };

function problem(bundle: string, { pem }: Pick<SigningKey, "pem"> = key, of = manifest): string | undefined {
  const publicKey = readPublicKey(pem, "release");
  if (!publicKey.ok) throw new Error(publicKey.fault.msg);
  return bundleProblem(bundle, of, publicKey.value);
}

/** The bundle with a change to its JSON. */
function changed(bundle: string, change: (value: Record<string, Record<string, unknown>>) => void): string {
  const value = JSON.parse(bundle);
  change(value);
  return JSON.stringify(value);
}

describe("E-14: a bundle", () => {
  const signed = dsseBundle(key, signStatement(manifest.digest));

  test("of the key about the manifest is a signature, as a statement and as a message", () => {
    expect(problem(signed)).toBeUndefined();
    expect(problem(messageBundle(key, manifest.text))).toBeUndefined();
  });

  test("that cosign 3.1.3 made is a signature of its manifest, and of no other one", () => {
    const path = new URL("fixtures/cosign-3.1.3.json", import.meta.url);
    const recorded: { publicKey: string; manifest: string; bundle: string } = JSON.parse(readFileSync(path, "utf8"));
    const by = { pem: recorded.publicKey };
    expect(problem(recorded.bundle, by, { text: recorded.manifest, digest: sha256(recorded.manifest) })).toBeUndefined();
    expect(problem(recorded.bundle, by, other)).toMatch(/it signs/);
    expect(problem(recorded.bundle, key, { text: recorded.manifest, digest: sha256(recorded.manifest) })).toMatch(
      /signature verification failed/,
    );
  });

  test("with an entry of a transparency log is one too: the entry is not examined", () => {
    const logged = changed(signed, (value) => {
      const entry = {
        logIndex: "1",
        logId: { keyId: "AAAA" },
        kindVersion: { kind: "dsse", version: "0.0.1" },
        integratedTime: "1",
        inclusionPromise: { signedEntryTimestamp: "AAAA" },
        canonicalizedBody: "AAAA",
      };
      Object.assign(value["verificationMaterial"] ?? {}, {
        tlogEntries: [
          {
            ...entry,
            inclusionProof: { logIndex: "1", rootHash: "AAAA", treeSize: "2", hashes: [], checkpoint: { envelope: "x" } },
          },
        ],
      });
    });
    expect(problem(logged)).toBeUndefined();
  });

  test.each<[string, () => string | undefined, RegExp]>([
    ["of another key", () => problem(signed, makeSigningKey()), /signature verification failed/],
    [
      "of another key, as a message",
      () => problem(messageBundle(key, manifest.text), makeSigningKey()),
      /signature verification failed/,
    ],
    ["about another manifest", () => problem(signed, key, other), /it signs sha256:\w+, not sha256:\w+/],
    [
      "about another manifest, as a message",
      () => problem(messageBundle(key, manifest.text), key, other),
      /signature verification failed/,
    ],
    [
      "with another statement than the signed one",
      () =>
        problem(
          changed(signed, ({ dsseEnvelope }) => {
            Object.assign(dsseEnvelope ?? {}, { payload: Buffer.from(signStatement(other.digest)).toString("base64") });
          }),
          key,
          other,
        ),
      /signature verification failed/,
    ],
    [
      "that is an attestation of the same key",
      () => problem(dsseBundle(key, signStatement(manifest.digest, "https://spdx.dev/Document"))),
      /its predicate is "https:\/\/spdx.dev\/Document"/,
    ],
    [
      "whose statement has no subject",
      () =>
        problem(
          dsseBundle(key, '{"_type":"https://in-toto.io/Statement/v1","predicateType":"https://sigstore.dev/cosign/sign/v1"}'),
        ),
      /it signs nothing/,
    ],
    ["whose statement is not JSON", () => problem(dsseBundle(key, "no")), /not JSON/],
    [
      "without a signature",
      () => problem(changed(signed, ({ dsseEnvelope }) => void Object.assign(dsseEnvelope ?? {}, { signatures: [] }))),
      /invalid bundle/,
    ],
    [
      "with a certificate",
      () =>
        problem(
          changed(
            signed,
            (value) =>
              void Object.assign(value, { verificationMaterial: { certificate: { rawBytes: "AAAA" }, tlogEntries: [] } }),
          ),
        ),
      /./,
    ],
    ["that is not JSON", () => problem("no"), /JSON/],
    ["that is another document", () => problem('{"mediaType":"text/plain"}'), /./],
  ])("%s is no signature", (_, answer, why) => {
    expect(answer()).toMatch(why);
  });

  test.each<[string, () => string, RegExp]>([
    ["a text", () => "no key", /the key release: /],
    ["a private key's certificate", () => "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", /the key release: /],
    ["ECDSA on P-384", () => pemOf(generateKeyPairSync("ec", { namedCurve: "P-384" })), /ec secp384r1; ECDSA on P-256 and RSA/],
    ["Ed25519", () => pemOf(generateKeyPairSync("ed25519")), /ed25519/],
    ["a short RSA key", () => pemOf(generateKeyPairSync("rsa", { modulusLength: 1024 })), /rsa 1024/],
  ])("a key that is %s can't be used", (_, pem, why) => {
    const read = readPublicKey(pem(), "release");
    expect(read).toMatchObject({ ok: false, fault: { kind: "SIGNATURE_KEY_UNUSABLE", msg: expect.stringMatching(why) } });
  });
});

function pemOf({ publicKey }: { publicKey: { export(options: { type: "spki"; format: "pem" }): string | Buffer } }): string {
  return publicKey.export({ type: "spki", format: "pem" }).toString();
}
