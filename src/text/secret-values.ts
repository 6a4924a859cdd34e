// Finds the secrets of one step's configuration by their keys, and removes them from the step's output: error message, details, stderr, log lines.
// This guards against plugins that quote their configuration. A plugin that wants to reveal a secret can encode it.

import { redacted, type ReplaceSecret, withoutSecrets, isHarmless, isSecretKey } from "../fault/without-secrets.ts";
import type { Fault } from "../fault/fault.ts";
import { isJsonObject } from "../json/document.ts";
import { writtenForms } from "./written-forms.ts";

/** The step's input that may hold secrets. */
export interface SecretSource {
  /** The configuration, as JSON. */
  readonly stdin: string;
  readonly env: readonly (readonly [name: string, value: string])[];
}

/** Removes secrets from a text. `cut`: the text's end was cut off, so a secret at the end may be incomplete. */
export type Redact = (text: string, cut?: boolean) => string;

/** Shorter values would hide ordinary words. */
const minLength = 4;
/** A number with fewer digits is taken for a port, a size or a time. */
const minDigits = 6;
/** A configuration with more secrets, or more characters in them, hides the whole text: searching for them would take too long. */
const maxSecrets = 64;
const maxLength = 16 * 1024;
/** The search pattern has at most so many leading characters of each form, because a large pattern is slow or refused. */
const maxBeginning = 64;
/** A text may be shortened (`…`) at many places. Only so many at its beginning, and as many at its end, are searched for a cut secret. */
const maxCuts = 16;
/** Deeper values are not searched. A configuration has at most 100 levels; JSON within its strings may have any number. */
const maxDepth = 200;
/** Maximum attempts to find the beginning of a secret at the end of a text. */
const maxTries = 64;

/** Values of secret keys that are not secrets: they say how the secret is used, or that the key has none. */
const ordinary: ReadonlySet<string> = new Set(
  "true false none null nil undefined auto default enabled disabled basic bearer digest plain simple anonymous password passwd secret token cookie file static dynamic optional required public private open shared redacted".split(
    " ",
  ),
);

/** Members that hold other things than the step's configuration. */
const foreignMembers: ReadonlySet<string> = new Set(["prevResult", "cni.dev/valid-attachments", "cni.dev/attachments"]);

/**
 * The function that removes the step's secrets from its output, and whatever `withoutSecrets` recognises. The configuration is read at the
 * first call: a step without output costs nothing.
 */
export function redactorOf(source: SecretSource): Redact {
  let secrets: Secrets | undefined;
  return (text, cut = false) => {
    if (text === "") return text;
    secrets ??= new Secrets(secretValues(source));
    return withoutSecrets(secrets.removeFrom(text, cut));
  };
}

/** The fault of a step, without the step's secrets. */
export function withoutStepSecrets(fault: Fault, source: SecretSource): Fault {
  const redact = redactorOf(source);
  const { details } = fault;
  return { ...fault, msg: redact(fault.msg), ...(details === undefined ? {} : { details: redact(details) }) };
}

/** The secret values of a step's configuration and of its CNI_ARGS. */
export function secretValues({ stdin, env }: SecretSource): ReadonlySet<string> {
  const secrets = new SecretValues();
  const configuration = parsed(stdin);
  if (isJsonObject(configuration)) {
    for (const [key, value] of Object.entries(configuration)) {
      if (!foreignMembers.has(key)) secrets.addFrom(value, isSecretKey(key));
    }
  }
  secrets.addArgs(env.find(([name]) => name === "CNI_ARGS")?.[1] ?? "");
  return secrets.found;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const urlPassword = /:\/\/[^\s/:@]{0,256}:([^\s/@]{1,512})@/g;
const privateKey = /-----BEGIN ([A-Z ]{0,40}PRIVATE KEY)-----[^-]*(?:-----END \1-----)?/g;
const assignment = /(?<![\w.-])([\w.-]{1,128})=("[^"]*"|'[^']*'|[^\s;,&]+)/g;

/** Collects secret values. */
class SecretValues {
  readonly found = new Set<string>();

  /** Adds the secrets in a value. `isSecret`: its key names a secret. `depth`: levels above the value, those of surrounding JSON included. */
  addFrom(value: unknown, isSecret: boolean, depth = 0): void {
    if (depth > maxDepth) return;
    if (typeof value === "string") {
      if (isSecret) this.#add(value);
      else this.#addWithin(value, depth);
    } else if (typeof value === "number") {
      const digits = String(value);
      if (isSecret && digits.length >= minDigits) this.found.add(digits);
    } else if (Array.isArray(value)) {
      for (const element of value) this.addFrom(element, isSecret, depth + 1);
    } else if (isJsonObject(value)) this.#addMembers(value, isSecret, depth + 1);
  }

  /** Adds the secrets in CNI_ARGS. */
  addArgs(args: string): void {
    for (const pair of args.split(";")) {
      const equals = pair.indexOf("=");
      if (equals > 0 && isSecretKey(pair.slice(0, equals))) this.#add(pair.slice(equals + 1));
    }
  }

  #add(value: string): void {
    const trimmed = value.trim();
    if (trimmed.length >= minLength && !ordinary.has(trimmed.toLowerCase())) this.found.add(value);
  }

  #addMembers(object: Readonly<Record<string, unknown>>, isSecret: boolean, depth: number): void {
    // `{"name": "DB_PASSWORD", "value": "…"}`, as environment variables are written.
    const name = object["name"] ?? object["key"];
    const isPair = typeof name === "string" && isSecretKey(name);
    for (const [key, member] of Object.entries(object)) {
      const below = isSecret && !isHarmless(key);
      this.addFrom(member, below || isSecretKey(key) || (isPair && key === "value"), depth);
    }
  }

  /** Adds the secrets inside of an ordinary text: a URL's password, `password=…` in a connection string, a private key in PEM, and in JSON. */
  #addWithin(text: string, depth: number): void {
    if (text.includes("://")) for (const [, secret = ""] of text.matchAll(urlPassword)) this.#add(secret);
    if (text.includes("-----BEGIN")) for (const [key] of text.matchAll(privateKey)) this.#add(key);
    if (text.includes("=")) {
      for (const [, key = "", value = ""] of text.matchAll(assignment)) {
        if (isSecretKey(key)) this.#add(value.replaceAll(/^["']|["']$/g, ""));
      }
    }
    if (/^\s*[[{]/.test(text)) this.addFrom(parsed(text), false, depth + 1);
  }
}

/** The secrets of one configuration in all their written forms. */
export class Secrets {
  /** In lower case, because hexadecimal digits and URL escapes have both cases. The longest first, so that a longer form is not cut by a shorter one. */
  readonly #forms: readonly string[];
  /** The replacement of each form. */
  readonly #replacements = new Map<string, string>();
  /** Finds the forms' beginnings. */
  readonly #pattern: RegExp | undefined;
  readonly #tooMany: boolean;

  /** `replace` makes the replacement of a value; all written forms of the value get it. */
  constructor(values: ReadonlySet<string>, replace: ReplaceSecret = () => redacted) {
    let length = 0;
    for (const value of values) length += value.length;
    this.#tooMany = values.size > maxSecrets || length > maxLength;
    for (const value of this.#tooMany ? [] : values) {
      const forms = writtenForms(value).filter((form) => form.length >= minLength);
      for (const form of forms.map(inLowerCase)) if (!this.#replacements.has(form)) this.#replacements.set(form, replace(value));
    }
    this.#forms = [...this.#replacements.keys()].toSorted((one, other) => other.length - one.length);
    const beginnings = new Set(this.#forms.map((form) => form.slice(0, maxBeginning)));
    const literals = [...beginnings].map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`));
    this.#pattern = literals.length === 0 ? undefined : new RegExp(literals.join("|"), "gi");
  }

  /** Whether there are too many secrets to search for: `removeFrom` then hides every text as a whole. */
  get isTooMany(): boolean {
    return this.#tooMany;
  }

  /** The text without the secrets. `cut`: the text's end was cut off. */
  removeFrom(text: string, cut: boolean): string {
    if (this.#tooMany) return `${redacted} (the configuration has too many secret values to search for)`;
    if (this.#pattern === undefined) return text;
    const whole = this.#withoutForms(text, this.#pattern);
    return cut || whole.includes("…") ? this.#withoutCutForms(whole, cut) : whole;
  }

  #withoutForms(text: string, pattern: RegExp): string {
    let result = "";
    let copied = 0;
    pattern.lastIndex = 0;
    for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
      const form = this.#formAt(text, found.index, found[0].length);
      result += text.slice(copied, found.index) + (this.#replacements.get(form.text) ?? redacted);
      copied = found.index + form.length;
      pattern.lastIndex = copied;
    }
    return copied === 0 ? text : result + text.slice(copied);
  }

  /** The longest form that begins at `start`, and how many characters of it the text has. The first `known` characters have matched already. */
  #formAt(text: string, start: number, known: number): { readonly text: string; readonly length: number } {
    if (known < maxBeginning) return { text: inLowerCase(text.slice(start, start + known)), length: known };
    const rest = inLowerCase(text.slice(start, start + (this.#forms[0]?.length ?? 0)));
    let longest = { text: "", length: known };
    for (const form of this.#forms) {
      const length = commonLength(form, rest);
      if (length > longest.length || (longest.text === "" && length === known)) longest = { text: form, length };
    }
    return longest;
  }

  /** The text without the beginning of a secret right before `…`, where the text was shortened, or at its end. */
  #withoutCutForms(text: string, cut: boolean): string {
    const parts = text.split("…");
    const isCut = (index: number): boolean =>
      (cut || index < parts.length - 1) && (index < maxCuts || index >= parts.length - maxCuts);
    return parts.map((part, index) => (isCut(index) ? this.#withoutCutEnd(part) : part)).join("…");
  }

  #withoutCutEnd(text: string): string {
    const quote = text.endsWith('"') ? '"' : "";
    const from = Math.max(0, text.length - (this.#forms[0]?.length ?? 0) - quote.length);
    const kept = inLowerCase(text.slice(from, text.length - quote.length));
    for (const form of this.#forms) {
      let start = kept.indexOf(form.slice(0, minLength));
      for (let tries = 0; start >= 0 && tries < maxTries; tries++) {
        if (form.startsWith(kept.slice(start))) return `${text.slice(0, from + start)}${redacted}${quote}`;
        start = kept.indexOf(form.slice(0, minLength), start + 1);
      }
    }
    return text;
  }
}

/** The text with the letters of ASCII in lower case. Its length stays, unlike that of a text with other letters. */
function inLowerCase(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** The number of characters that two texts have in common at their beginning. */
function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}
