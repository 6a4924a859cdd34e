// The forms in which programs write a text: plain, escaped, encoded. Used to find a secret in a plugin's output.

import { quote } from "../json/quote.ts";
import { inertLine, inertText } from "./inert-text.ts";

/** Shorter lines of a secret with several lines are not searched for on their own. */
const minLine = 8;
/** A piece of base64 with fewer characters occurs by chance. */
const minBase64 = 6;

/**
 * The forms of a text: as it is, without surrounding blanks, without control characters, each long line of several; in JSON (plain, as Go
 * escapes it, in ASCII only, and within a JSON string), as Go's %q; in a URL; in hexadecimal; and in base64, alone or within other data.
 */
export function writtenForms(text: string): readonly string[] {
  const value = text.toWellFormed();
  const trimmed = value.trim();
  const lines = trimmed.includes("\n") ? trimmed.split(/\r?\n/).map((line) => line.trim()) : [];
  const plain = [value, trimmed, inertText(value, value.length), inertLine(value, value.length).trim()];
  const bytes = new TextEncoder().encode(trimmed);
  return [
    ...new Set([
      ...plain,
      ...lines.filter((line) => line.length >= minLine && !line.startsWith("-----")),
      ...plain.flatMap(escapedForms),
      ...urlForms(trimmed),
      hexadecimal(bytes),
      ...base64Forms(bytes),
    ]),
  ].filter((form) => form !== "");
}

function escapedForms(text: string): readonly string[] {
  const json = inner(JSON.stringify(text));
  const go = json.replaceAll(/[<>&\u2028\u2029]/g, unicodeEscape);
  const ascii = json.replaceAll(/[^ -~]/g, unicodeEscape);
  const quoted = inner(quote(text, text.length));
  return [json, go, ascii, quoted, ...[json, go, ascii, quoted].map((form) => inner(JSON.stringify(form)))];
}

function inner(quotedText: string): string {
  return quotedText.slice(1, -1);
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function urlForms(text: string): readonly string[] {
  const component = encodeURIComponent(text);
  const strict = component.replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
  return [component, strict, strict.replaceAll("%20", "+"), encodeURI(text)];
}

/** The bytes in hexadecimal, two digits for each. */
export function hexadecimal(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The text's own base64, and the characters that it determines at each of the three positions within other data. */
function base64Forms(bytes: Uint8Array): readonly string[] {
  const whole = base64(bytes).replace(/=+$/, "");
  const pieces = [0, 1, 2].map((before) => {
    const encoded = base64(new Uint8Array([...new Uint8Array(before), ...bytes]));
    // A character of 6 bits is determined if none of its bits belongs to other data.
    return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  const forms = [whole, ...pieces.filter((piece) => piece.length >= minBase64)];
  return forms.flatMap((form) => [form, form.replaceAll("+", "-").replaceAll("/", "_")]);
}

function base64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
