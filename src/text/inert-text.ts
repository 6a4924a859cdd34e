// Text from outside, made harmless for logs, terminals and error messages: bytes are decoded, control characters and escape sequences are removed.

import type { FaultKind } from "../fault/catalogue.ts";
import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { withoutSecrets } from "../fault/without-secrets.ts";

// Escape sequences (CSI, OSC and others, also incomplete), then control characters and characters that change the text direction.
const sequences =
  // oxlint-disable-next-line no-control-regex
  /\u001B(?:\[[0-?]*[ -/]*[@-~]?|[\]PX^_][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[ -/]*[0-~]?)|\u009B[0-?]*[ -/]*[@-~]?/g;
// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]/g;

/** Text that stays unchanged. */
const plain = /^[ -~]*$/;

/** The text as one line of at most `maxLength` UTF-16 units, without escape sequences and control characters. */
export function inertLine(text: string, maxLength: number): string {
  // Nearly all text is plain ASCII, and four searches cost ten times as much as this one.
  if (text.length <= maxLength && plain.test(text)) return text;
  return inertText(text, maxLength).replaceAll(/[\t\n\u2028\u2029]+/g, " ");
}

/** Like `inertLine`, but keeps line breaks and tabs. */
export function inertText(text: string, maxLength: number): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return cut.replaceAll(sequences, "").replaceAll(controls, "").toWellFormed();
}

/** Maximum length of a message, in UTF-16 units. */
const maxMessage = 4096;

/** The text as one line, without control characters and secrets. */
export function harmlessMessage(text: string): string {
  return withoutSecrets(inertLine(text, maxMessage));
}

// JSON is UTF-8 (RFC 8259). Other bytes would change on their way through the chain, so they are refused.
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text; a fault of `kind` if the bytes are not UTF-8. `what` names the bytes in the fault. */
export function textOf(bytes: Uint8Array, what: string, kind: FaultKind = "CONFIG_NOT_JSON"): Result<string> {
  try {
    return ok(strict.decode(bytes));
  } catch {
    return failed(fault(kind, `${what} is not UTF-8 text`));
  }
}

/** The text, with U+FFFD for each invalid byte sequence. It is for reading only and must not be passed on. */
export function lenientText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
