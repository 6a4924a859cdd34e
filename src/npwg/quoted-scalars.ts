// Repairs YAML as Kubernetes' users write it: the specification's own examples (NPWG 3.2.1) close a quoted `config` further left
// than YAML 1.2 allows. go-yaml accepts that, strict parsers do not.

type Quote = "'" | '"';

interface Open {
  readonly quote: Quote;
  /** The scalar's lines must be indented by more columns than this. */
  readonly indent: number;
}

const lead = /^ *(?:- +)*/;
const keyAndQuote = /^(?:[^\s'"#-][^'"#]*?|'[^']*'|"[^"]*") *: +(['"])/;
const blockScalar = /(?:^|: +)[|>][-+0-9]*\s*(?:#.*)?$/;
/**
 * Only this part of a line is searched for a key: Kubernetes' keys are shorter, and the expressions take more than linear time.
 */
const maxKeyLength = 400;
const documentMarker = /^(?:---|\.\.\.)(?:\s|$)/;

/**
 * Indents the lines of quoted values that stand too far left. White space at the start of such a line is not part of the value,
 * so its meaning stays. Block scalars stay unchanged, because their indentation has a meaning. Text with an unclosed quote at a
 * document's end is returned unchanged.
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
    block = line.length <= maxKeyLength && blockScalar.test(line.slice(start)) ? start : undefined;
    if (block === undefined) quoted = opened(line, start);
  }
  return quoted === undefined ? lines.join("\n") : text;
}

/** The quoted value that begins in this line and continues beyond it. */
function opened(line: string, start: number): Open | undefined {
  const match = keyAndQuote.exec(line.slice(start, start + maxKeyLength));
  const quote = match?.[1];
  if (match === null || (quote !== "'" && quote !== '"')) return undefined;
  return closes(line.slice(start + match[0].length), quote) ? undefined : { quote, indent: start };
}

/** Whether a line that begins inside the quotes contains the closing quote. */
function closes(line: string, quote: Quote): boolean {
  const inside = quote === "'" ? line.replaceAll("''", "") : line.replaceAll(/\\./g, "");
  return inside.includes(quote);
}

function indentOf(line: string): number {
  return line.length - line.replace(/^ +/, "").length;
}
