// The forms in which plexusctl prints: tables, JSON, YAML, names.

import { inertLine, inertText } from "../../../src/text/inert-text.ts";
import { coloured } from "./colours.ts";
import type { Invocation } from "./command.ts";

/** Maximum columns of a table, except with `-o wide`. */
const tableWidth = 80;
/** Maximum length of a name, in UTF-16 units. */
const maxName = 1024;

/** Data with its other forms. */
export interface Printable {
  readonly value: unknown;
  /** The text for a width in columns; Infinity for `-o wide`. */
  readonly text: (width: number) => string;
  /** The names for `-o name`. */
  readonly names: () => readonly string[];
}

/** The data in the form of the command line. */
export async function printed({ value, text, names }: Printable, { output, colour }: Invocation): Promise<string> {
  switch (output) {
    case "json":
      return `${jsonText(value)}\n`;
    case "yaml":
      return yamlText(value);
    case "name":
      return names()
        .map((name) => `${inertLine(name, maxName)}\n`)
        .join("");
    default: {
      // The colours come last: an escape sequence of a foreign text must not reach the terminal.
      const shown = terminalText(text(output === "wide" ? Infinity : tableWidth));
      return colour ? coloured(shown) : shown;
    }
  }
}

// Characters that JSON may have as they are, and that control a terminal or the direction of text.
const unprintable = /[\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069\uFEFF]/g;

/** A text of several lines that a terminal can print safely. */
export function terminalText(text: string): string {
  return inertText(text, Infinity);
}

/** JSON of two-space indentation that a terminal can print safely. */
export function jsonText(value: unknown): string {
  return printable(JSON.stringify(value, undefined, 2));
}

/** JSON in one line that a terminal can print safely. */
export function jsonLine(value: unknown): string {
  return printable(JSON.stringify(value));
}

/** The text of a JSON document in a form that a terminal can print safely, and that reads as the same document. */
export function printable(json: string): string {
  return json.replaceAll(unprintable, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** YAML that a terminal can print safely. JSON is YAML, too, and can escape every character. */
export async function yamlText(value: unknown): Promise<string> {
  const { stringify } = await import("yaml");
  const text = stringify(value);
  // oxlint-disable-next-line no-control-regex
  return text.search(unprintable) === -1 && !/[\u0000-\u0008\u000B-\u001F]/.test(text) ? text : `${jsonText(value)}\n`;
}
