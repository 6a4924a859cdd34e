// Text that a guest wrote, made harmless for logs, terminals and error messages.

// Escape sequences (CSI, OSC and the like, finished or not), then control characters and characters that turn text around.
const sequences =
  // oxlint-disable-next-line no-control-regex
  /\u001B(?:\[[0-?]*[ -/]*[@-~]?|[\]PX^_][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[ -/]*[0-~]?)|\u009B[0-?]*[ -/]*[@-~]?/g;
// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]/g;

/** Without anything that is taken out or replaced. */
const plain = /^[ -~]*$/;

/** One line, without escape sequences and control characters, of at most `most` UTF-16 units. */
export function inertLine(text: string, most: number): string {
  // Nearly all text is plain ASCII, and four searches cost ten times as much as one.
  if (text.length <= most && plain.test(text)) return text;
  return inertText(text, most).replaceAll(/[\t\n\u2028\u2029]+/g, " ");
}

/** As `inertLine`, line breaks and tabs kept. */
export function inertText(text: string, most: number): string {
  const cut = text.length > most ? `${text.slice(0, most)}…` : text;
  return cut.replaceAll(sequences, "").replaceAll(controls, "").toWellFormed();
}
