// Takes secrets out of documents and texts that an administrator sends to others. The rules for keys and forms are those for the output of
// plugins (src/fault/); documents have more readers than logs, so more is taken out of them.

import { redacted, type ReplaceSecret, withoutSecrets, isSecretKey } from "../fault/without-secrets.ts";
import { isJsonObject } from "../json/document.ts";
import { jsonEqual } from "../json/json-changes.ts";
import { scan } from "../json/scan.ts";
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

const always: ReplaceSecret = () => redacted;

/** How secrets in a document are replaced. */
export interface RedactRules {
  /** The text in the place of a secret. */
  readonly replace: ReplaceSecret;
  /** A text without secrets. */
  readonly text: (text: string) => string;
  /** A number, or what stands in its place if it is a secret. */
  readonly number: (number: number) => number | string;
}

const ordinaryRules: RedactRules = { replace: always, text: (text) => redactText(text), number: (number) => number };

/** Deeper values are not written: no document of Plexus has as many levels. */
const maxDepth = 100;

/** The text without secrets; `replace` makes what stands in the place of each. */
export function redactText(text: string, replace: ReplaceSecret = always): string {
  return withoutSecrets(
    secretForms.reduce((rest, form) => rest.replaceAll(form, (secret) => replace(secret)), text),
    replace,
  );
}

/**
 * The JSON value without secrets: values of keys that name one, everything below a kubeconfig's `user` but paths, values of annotations that are
 * not Plexus' own, and texts that have the form of a secret. A text that is JSON itself is redacted as JSON. `rules` say what
 * stands in the place of a secret.
 */
export function redactValue(value: unknown, rules: RedactRules = ordinaryRules, depth = 0): unknown {
  const { replace } = rules;
  if (depth > maxDepth) return redacted;
  if (typeof value === "string") return redactString(value, rules, depth);
  if (Array.isArray(value)) return value.map((element) => redactValue(element, rules, depth + 1));
  if (!isJsonObject(value)) return typeof value === "number" ? rules.number(value) : value;
  // `{"name": "DB_PASSWORD", "value": "…"}`, as environment variables are written.
  const name = value["name"] ?? value["key"];
  const isPair = typeof name === "string" && isSecretKey(name);
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      if (key === "annotations") return [key, redactAnnotations(member, rules, depth)];
      if (key === "user" && isJsonObject(member)) return [key, redactUser(member, rules)];
      if ((isSecretKey(key) || (isPair && key === "value")) && isSecretValue(member)) return [key, replace(textOf(member))];
      return [rules.text(key), redactValue(member, rules, depth + 1)];
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

function redactUser(user: Readonly<Record<string, unknown>>, { text, replace }: RedactRules): unknown {
  return Object.fromEntries(
    Object.entries(user).map(([key, value]) => [
      key,
      pathKeys.includes(key) && typeof value === "string" ? text(value) : replace(textOf(value)),
    ]),
  );
}

function redactAnnotations(annotations: unknown, rules: RedactRules, depth: number): unknown {
  if (!isJsonObject(annotations)) return rules.replace(textOf(annotations));
  return Object.fromEntries(
    Object.entries(annotations).map(([key, value]) => [
      key,
      isPlexusAnnotation(key) ? redactValue(value, rules, depth + 1) : rules.replace(textOf(value)),
    ]),
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** The text without secrets, by `rules`. JSON is redacted as JSON, and stays byte for byte if it has no secret. */
export function redactString(text: string, rules: RedactRules, depth = 0): string {
  if (/^\s*[[{]/.test(text)) {
    try {
      const value: unknown = JSON.parse(text);
      const safe = redactValue(value, rules, depth + 1);
      // JSON.parse keeps the last value of a key that occurs twice: the first one may be a secret.
      const isUnchanged = jsonEqual(value, safe) && scan(text, Infinity).duplicate === undefined;
      return isUnchanged ? text : JSON.stringify(safe);
    } catch {
      // The text is not JSON and is redacted as plain text.
    }
  }
  return rules.text(text);
}
