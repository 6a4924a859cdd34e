// Digests of OCI content. Only SHA-256 is accepted: every registry and cosign use it.

/** A digest: `sha256:` and 64 hexadecimal digits. */
export const digestPattern = /^sha256:[0-9a-f]{64}$/;

/** The form of a digest, for messages. */
export const digestWanted = 'a digest such as "sha256:…" with 64 hexadecimal digits';

/** Whether the value is the text of a digest. */
export function isDigest(text: unknown): text is string {
  return typeof text === "string" && digestPattern.test(text);
}

/** The tag of the index that stands for the referrers API where a registry lacks it (OCI distribution, "Referrers Tag Schema"). */
export function referrersTag(digest: string): string {
  return digest.replace(":", "-");
}

/** The digest in short form, for tables: the first 12 digits. */
export function shortDigest(digest: string): string {
  return digest.slice(0, "sha256:".length + 12);
}
