// Removes control characters and escape sequences from foreign text, so that logs, terminals and error messages can contain it.

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
