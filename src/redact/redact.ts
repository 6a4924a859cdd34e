// Takes secrets out of documents and texts that an administrator sends to others.

import { isPlexusAnnotation } from "./owned-annotations.ts";

/** What stands in the place of a secret. */
export const redacted = "[redacted]";

/**
 * Keys whose value is a secret, in any notation: `token`, `client-key-data`, `etcdPassword`. Keys of paths (`tokenFile`) are no secrets.
 */
const secretKey =
  /(?:token|passw(?:or)?d|passphrase|secret|api[-_]?key|access[-_]?key|private[-_]?key|key[-_]?data|certificate[-_]?data|authorization|credential|bearer|cookie|psk)s?$/i;

/** Secrets that a text shows by their form. */
const secretForms: readonly RegExp[] = [
  // PEM: private keys and certificates. An interrupted block ends with the text.
  /-----BEGIN [A-Z0-9 ]+-----[\s\S]*?(?:-----END [A-Z0-9 ]+-----|$)/g,
  // The same within base64, as kubeconfigs and Secrets have it: "LS0tLS1CRUdJTi" is "-----BEGIN".
  /LS0tLS1CRUdJTi[\w+/=]*/g,
  // JSON web tokens, such as those of service accounts.
  /\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?/g,
  // Values of an HTTP header.
  /(?<=\b(?:Bearer|Basic|Digest) )[\w.~+/=-]+/gi,
  // Bootstrap tokens of Kubernetes, and tokens with a vendor's prefix.
  /\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g,
  /\b(?:AKIA|ASIA|ghp_|gho_|ghs_|github_pat_|glpat-|xox[abpr]-|sha256~)[\w-]{10,}/g,
];

/** `user:password@` in a URL. */
const urlUser = /(?<=\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@"']+(?=@)/gi;

/** `key=value`, `key: value` and `"key":"value"` whose key names a secret. */
const assignment =
  /((?:["']?)\b[\w.-]{0,64}(?:token|passw(?:or)?d|passphrase|secret|api[-_]?key|access[-_]?key|private[-_]?key|key-data|credential)s?(?:["']?)\s*[=:]\s*)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s,;&}\]]+)/gi;

/** The text without secrets. */
export function redactText(text: string): string {
  const withoutForms = secretForms.reduce((rest, form) => rest.replaceAll(form, redacted), text);
  return withoutForms.replaceAll(urlUser, redacted).replaceAll(assignment, `$1${redacted}`);
}

/**
 * The JSON value without secrets: values of keys that name one, everything below `users` of a kubeconfig but the names, values of annotations that
 * are not Plexus' own, and texts that have the form of a secret. A text that is JSON itself is redacted as JSON.
 */
export function redactValue(value: unknown): unknown {
  if (typeof value === "string") return redactString(value);
  if (Array.isArray(value)) return value.map(redactValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      if (key === "annotations") return [key, redactAnnotations(member)];
      if (key === "user" && typeof member === "object" && member !== null) return [key, redactUser(member)];
      if (secretKey.test(key) && isSecretValue(member)) return [key, redacted];
      return [redactText(key), redactValue(member)];
    }),
  );
}

/** Counts and flags under a secret's key (`tokens: 3`) are no secrets. */
function isSecretValue(value: unknown): boolean {
  return typeof value !== "number" && typeof value !== "boolean" && value !== null;
}

const pathKeys = ["tokenFile", "client-certificate", "client-key"];

/** A kubeconfig's user: only paths stay. */
function redactUser(user: object): unknown {
  return Object.fromEntries(
    Object.entries(user).map(([key, value]) => [
      key,
      pathKeys.includes(key) && typeof value === "string" ? redactText(value) : redacted,
    ]),
  );
}

function redactAnnotations(annotations: unknown): unknown {
  if (typeof annotations !== "object" || annotations === null || Array.isArray(annotations)) return redacted;
  return Object.fromEntries(
    Object.entries(annotations).map(([key, value]) => [key, isPlexusAnnotation(key) ? redactValue(value) : redacted]),
  );
}

function redactString(text: string): string {
  const start = text.trimStart()[0];
  if (start === "{" || start === "[") {
    try {
      return JSON.stringify(redactValue(JSON.parse(text)));
    } catch {
      // Not JSON: the text is redacted as a text.
    }
  }
  return redactText(text);
}
