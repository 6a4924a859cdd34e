// Replaces the secrets of a document by tokens such as `[redacted-1]`. Equal secrets get equal tokens, so that a program that only passes a
// secret on gives the same output for the redacted input.

import { jsonEqual } from "../json/json-changes.ts";
import { Secrets, secretValues, type SecretSource } from "../text/secret-values.ts";
import { redactString, redactText, redactValue, type RedactRules } from "./redact.ts";

const token = /^\[redacted(?:-\d+)?\]$/;

/** The tokens of one document. Add all sources before the first replacement. */
export class SecretTokens {
  readonly #tokens = new Map<string, string>();
  readonly #values = new Set<string>();
  #secrets: Secrets | undefined;

  /** Adds the secrets of a plugin's input: they are replaced wherever they occur. */
  addFrom(source: SecretSource): void {
    this.addValues(secretValues(source));
  }

  /** Adds further secrets. */
  addValues(values: Iterable<string>): void {
    for (const value of values) this.#values.add(value);
  }

  /** The number of different secrets that were replaced. */
  get count(): number {
    return this.#tokens.size;
  }

  /** Whether there are too many secrets to search for. Every text is then hidden as a whole. */
  get isTooMany(): boolean {
    return this.#found.isTooMany;
  }

  /** The text without secrets. JSON without a secret stays byte for byte. */
  text(text: string): string {
    return redactString(text, this.#rules);
  }

  /** The JSON value without secrets. */
  value(value: unknown): unknown {
    const safe = redactValue(value, this.#rules);
    return jsonEqual(value, safe) ? value : safe;
  }

  readonly #rules: RedactRules = {
    replace: (secret) => this.#tokenOf(secret),
    text: (text) => redactText(this.#found.removeFrom(text, false), (secret) => this.#tokenOf(secret)),
    number: (number) => (this.#values.has(String(number)) ? this.#tokenOf(String(number)) : number),
  };

  get #found(): Secrets {
    return (this.#secrets ??= new Secrets(this.#values, (secret) => this.#tokenOf(secret)));
  }

  #tokenOf(secret: string): string {
    const text = secret.replaceAll(/^["']|["']$/g, "");
    if (token.test(text)) return text;
    const known = this.#tokens.get(text) ?? `[redacted-${this.#tokens.size + 1}]`;
    this.#tokens.set(text, known);
    return known;
  }
}
