// The in-toto statement that cosign 3 signs: "this digest is signed", as the payload of a DSSE envelope.

import { isJsonObject } from "../json/document.ts";
import { quote } from "../json/quote.ts";

/** Type of the DSSE envelope's payload. */
export const statementPayloadType = "application/vnd.in-toto+json";
/** Type of the statement. */
const statementType = "https://in-toto.io/Statement/v1";
/** Predicate of `cosign sign`. An attestation of the same key (an SBOM, a scan) has another one and is no signature. */
export const signPredicate = "https://sigstore.dev/cosign/sign/v1";

/** Why the statement does not sign the manifest with this digest, as one phrase; undefined if it does. */
export function statementProblem(text: string, manifestDigest: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "its statement is not JSON";
  }
  if (!isJsonObject(value) || value["_type"] !== statementType)
    return `its statement is not an in-toto statement (${statementType})`;
  const { predicateType, subject } = value;
  if (predicateType !== signPredicate) return `its predicate is ${shown(predicateType)}, not ${signPredicate}`;
  const digests = Array.isArray(subject) ? subject.map((each: unknown) => digestOf(each)) : [];
  if (digests.includes(manifestDigest)) return undefined;
  return `it signs ${digests.length === 0 ? "nothing" : digests.map((each) => each ?? "a subject without SHA-256").join(", ")}, not ${manifestDigest}`;
}

function digestOf(subject: unknown): string | undefined {
  const digest = isJsonObject(subject) ? subject["digest"] : undefined;
  const sha256 = isJsonObject(digest) ? digest["sha256"] : undefined;
  return typeof sha256 === "string" ? `sha256:${sha256.slice(0, 64)}` : undefined;
}

function shown(value: unknown): string {
  return typeof value === "string" ? quote(value, 100) : "missing";
}
