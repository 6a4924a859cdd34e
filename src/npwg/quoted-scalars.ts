// YAML as Kubernetes' users write it: the specification's own examples (NPWG 3.2.1) close a quoted `config` further left
// than YAML 1.2 allows, which go-yaml takes and strict parsers don't.

type Quote = "'" | '"';

interface Open {
  readonly quote: Quote;
  /** Columns that the lines of the scalar must be indented beyond. */
  readonly indent: number;
}

const lead = /^ *(?:- +)*/;
const keyAndQuote = /^(?:[^\s'"#-][^'"#]*?|'[^']*'|"[^"]*") *: +(['"])/;
const blockScalar = /(?:^|: +)[|>][-+0-9]*\s*(?:#.*)?$/;
/** Of a line no more is looked at for a key: Kubernetes' longest is shorter, and the expressions aren't linear. */
const longestKey = 400;
const documentMarker = /^(?:---|\.\.\.)(?:\s|$)/;

/**
 * Indents the lines of quoted values that stand too far left. White space at the start of such a line is not part of
 * the value, so its meaning stays; block scalars, whose indentation is, are left alone. Text with a quote that a document's
 * end leaves open comes back unchanged.
 */
export function indentQuotedScalars(text: string): string {
  const lines = text.split("\n");
  let quoted: Open | undefined;
  let block: number | undefined;
  for (const [index, line] of lines.entries()) {
    if (quoted !== undefined) {
      if (documentMarker.test(line)) return text;
      if (line.trim() !== "" && indentOf(line) <= quoted.indent) lines[index] = " ".repeat(quoted.indent + 1) + line;
      if (closes(line, quoted.quote)) quoted = undefined;
      continue;
    }
    if (block !== undefined && (line.trim() === "" || indentOf(line) > block)) continue;
    const start = lead.exec(line)?.[0].length ?? 0;
    if (line.startsWith("#", start)) continue;
    block = line.length <= longestKey && blockScalar.test(line.slice(start)) ? start : undefined;
    if (block === undefined) quoted = opened(line, start);
  }
  return quoted === undefined ? lines.join("\n") : text;
}

/** The quoted value that begins in this line and doesn't end in it. */
function opened(line: string, start: number): Open | undefined {
  const match = keyAndQuote.exec(line.slice(start, start + longestKey));
  const quote = match?.[1];
  if (match === null || (quote !== "'" && quote !== '"')) return undefined;
  return closes(line.slice(start + match[0].length), quote) ? undefined : { quote, indent: start };
}

/** Whether a line that begins inside the quotes has the closing one. */
function closes(line: string, quote: Quote): boolean {
  const inside = quote === "'" ? line.replaceAll("''", "") : line.replaceAll(/\\./g, "");
  return inside.includes(quote);
}

function indentOf(line: string): number {
  return line.length - line.replace(/^ +/, "").length;
}
