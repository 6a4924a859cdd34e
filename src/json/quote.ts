// Quotes foreign text in messages like Go's %q, so that libcni's texts come out the same and no control character or terminal
// escape of a hostile plugin reaches a log. The text is cut, so that no message grows without limit.

const NAMED: Readonly<Record<string, string>> = {
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
  '"': '\\"',
};

const PLAIN = /^[ !#-[\]-~]*$/;

function escape(character: string): string {
  const named = NAMED[character];
  if (named !== undefined) return named;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code < 0x1_0000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`;
}

/**
 * Escapes all characters except those that Go's strconv.IsPrint calls printable: letters, marks, numbers, punctuation, symbols,
 * the ASCII space. The pattern is created here, because V8 needs two milliseconds for it: plain text and calls without faults
 * skip that.
 */
function escapeAll(text: string): string {
  return text.replaceAll(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, escape);
}

/** `text` in double quotes, escaped, and cut after `limit` UTF-16 units. The number of omitted units follows the quotes. */
export function quote(text: string, limit = 200): string {
  const cut = text.length > limit;
  const kept = cut ? text.slice(0, limit) : text;
  const shown = PLAIN.test(kept) ? kept : escapeAll(kept);
  return cut ? `"${shown}"… (${text.length - limit} more)` : `"${shown}"`;
}
