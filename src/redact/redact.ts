// Takes secrets out of documents and texts that an administrator sends to others. The rules for keys and forms are those for the output of
// plugins (src/fault/); documents have more readers than logs, so more is taken out of them.

import { isSecretKey } from "../fault/secret-keys.ts";
import { redacted, withoutSecrets } from "../fault/without-secrets.ts";
import { isJsonObject } from "../json/document.ts";
import { isPlexusAnnotation } from "./owned-annotations.ts";

/** Secrets that a text shows by their form, besides those that `withoutSecrets` knows. */
const secretForms: readonly RegExp[] = [
  // PEM: keys, and certificates, which name their owner. An interrupted block ends with the text.
  /-----BEGIN [A-Z0-9 ]{1,40}-----[\s\S]*?(?:-----END [A-Z0-9 ]{1,40}-----|$)/g,
  // The same within base64, as kubeconfigs and Secrets have it: "LS0tLS1CRUdJTi" is "-----BEGIN".
  /LS0tLS1CRUdJTi[\w+/=]*/g,
  // Bootstrap tokens of Kubernetes.
  /\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g,
  // Tokens with their issuer's prefix.
  /\b(?:AKIA|ASIA|ghp_|gho_|ghs_|github_pat_|glpat-|xox[abpr]-|sha256~)[\w-]{10,}/g,
];

/** Deeper values are not written: no document of Plexus has as many levels. */
const maxDepth = 100;

/** The text without secrets. */
export function redactText(text: string): string {
  return withoutSecrets(secretForms.reduce((rest, form) => rest.replaceAll(form, redacted), text));
}

/**
 * The JSON value without secrets: values of keys that name one, everything below a kubeconfig's `user` but paths, values of annotations that are
 * not Plexus' own, and texts that have the form of a secret. A text that is JSON itself is redacted as JSON.
 */
export function redactValue(value: unknown, depth = 0): unknown {
  if (depth > maxDepth) return redacted;
  if (typeof value === "string") return redactString(value, depth);
  if (Array.isArray(value)) return value.map((element) => redactValue(element, depth + 1));
  if (!isJsonObject(value)) return value;
  // `{"name": "DB_PASSWORD", "value": "…"}`, as environment variables are written.
  const name = value["name"] ?? value["key"];
  const isPair = typeof name === "string" && isSecretKey(name);
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      if (key === "annotations") return [key, redactAnnotations(member, depth)];
      if (key === "user" && isJsonObject(member)) return [key, redactUser(member)];
      if ((isSecretKey(key) || (isPair && key === "value")) && isSecretValue(member)) return [key, redacted];
      return [redactText(key), redactValue(member, depth + 1)];
    }),
  );
}

/** A number with fewer digits is rather a count, a port or a time. */
const minSecretNumber = 100_000;

/** Flags and counts under a secret's key (`"tokens": 3`) are no secrets. */
function isSecretValue(value: unknown): boolean {
  return typeof value === "number" ? Math.abs(value) >= minSecretNumber : typeof value !== "boolean" && value !== null;
}

const pathKeys = ["tokenFile", "client-certificate", "client-key"];

function redactUser(user: Readonly<Record<string, unknown>>): unknown {
  return Object.fromEntries(
    Object.entries(user).map(([key, value]) => [
      key,
      pathKeys.includes(key) && typeof value === "string" ? redactText(value) : redacted,
    ]),
  );
}

function redactAnnotations(annotations: unknown, depth: number): unknown {
  if (!isJsonObject(annotations)) return redacted;
  return Object.fromEntries(
    Object.entries(annotations).map(([key, value]) => [key, isPlexusAnnotation(key) ? redactValue(value, depth + 1) : redacted]),
  );
}

function redactString(text: string, depth: number): string {
  if (/^\s*[[{]/.test(text)) {
    try {
      return JSON.stringify(redactValue(JSON.parse(text), depth + 1));
    } catch {
      // The text is not JSON and is redacted as plain text.
    }
  }
  return redactText(text);
}
