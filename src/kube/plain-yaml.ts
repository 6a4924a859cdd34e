// The part of YAML in which kubeconfigs are written, read without a library: block mappings and sequences, and scalars on one
// line. Loading a whole YAML reader takes longer than asking the API server for a pod.

/**
 * The value that the text means, where it stays within this part of YAML; undefined where anything else is met, which a
 * full reader must look at then. Never another value than a YAML 1.2 reader gives.
 */
export function readPlainYaml(text: string): { readonly value: unknown } | undefined {
  // Tabs, carriage returns, controls and letters beyond ASCII are left to the full reader.
  if (/[^\n -~]/.test(text)) return undefined;
  const lines = contentLines(text);
  if (lines === undefined || lines.length === 0) return undefined;
  const reader = new PlainYaml(lines);
  const value = reader.block(0, 0);
  return value !== undefined && reader.atEnd() ? { value: value.value } : undefined;
}

interface Line {
  readonly indent: number;
  readonly text: string;
}

interface Value {
  readonly value: unknown;
}

const deepest = 12;

/** Lines that hold something; a document's start may stand before them. Undefined where there is a directive or a document's end. */
function contentLines(text: string): readonly Line[] | undefined {
  const lines: Line[] = [];
  for (const [index, raw] of text.split("\n").entries()) {
    const trimmed = raw.trim();
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    if (raw.startsWith("%") || raw.startsWith("...")) return undefined;
    if (raw.startsWith("---")) {
      if (lines.length > 0 || raw !== "---" || index > 100) return undefined;
      continue;
    }
    lines.push({ indent: raw.length - raw.trimStart().length, text: trimmed });
  }
  return lines;
}

/** Every method answers undefined where the text leaves this part of YAML. */
class PlainYaml {
  readonly #lines: Line[];
  #at = 0;

  constructor(lines: readonly Line[]) {
    this.#lines = [...lines];
  }

  atEnd(): boolean {
    return this.#at === this.#lines.length;
  }

  /** The mapping or sequence whose entries stand at exactly this indentation. */
  block(indent: number, depth: number): Value | undefined {
    const line = this.#lines[this.#at];
    if (line === undefined || line.indent !== indent || depth > deepest) return undefined;
    return isEntry(line.text) ? this.#sequence(indent, depth) : this.#mapping(indent, depth);
  }

  #sequence(indent: number, depth: number): Value | undefined {
    const value: unknown[] = [];
    for (;;) {
      const line = this.#lines[this.#at];
      if (line === undefined || line.indent !== indent || !isEntry(line.text)) break;
      const rest = line.text.slice(1).trimStart();
      const inner = indent + line.text.length - rest.length;
      // An entry's mapping begins on the dash's own line, as if it stood on a line of its own.
      if (!keyed.test(rest)) return undefined;
      this.#lines[this.#at] = { indent: inner, text: rest };
      const entry = this.block(inner, depth + 1);
      if (entry === undefined) return undefined;
      value.push(entry.value);
    }
    return this.#ends(indent) ? { value } : undefined;
  }

  #mapping(indent: number, depth: number): Value | undefined {
    const members = new Map<string, unknown>();
    for (;;) {
      const line = this.#lines[this.#at];
      if (line === undefined || line.indent !== indent || isEntry(line.text)) break;
      const [, key, rest = ""] = keyed.exec(line.text) ?? [];
      if (key === undefined || members.has(key) || wordy.test(key)) return undefined;
      this.#at++;
      const value = rest === "" ? this.#nested(indent, depth) : this.#scalar(rest, indent);
      if (value === undefined) return undefined;
      members.set(key, value.value);
    }
    return this.#ends(indent) ? { value: Object.fromEntries(members) } : undefined;
  }

  /** What stands below a key; a sequence may stand at the key's own indentation. */
  #nested(indent: number, depth: number): Value | undefined {
    const next = this.#lines[this.#at];
    if (next === undefined || next.indent < indent || (next.indent === indent && !isEntry(next.text))) return { value: null };
    return this.block(next.indent, depth + 1);
  }

  /** A scalar that another line would go on with is no plain one. */
  #scalar(text: string, indent: number): Value | undefined {
    const next = this.#lines[this.#at];
    return next !== undefined && next.indent > indent ? undefined : scalar(text);
  }

  /** After a block comes the end, or a line that belongs to a block around it. */
  #ends(indent: number): boolean {
    const line = this.#lines[this.#at];
    return line === undefined || line.indent <= indent;
  }
}

const keyed = /^([A-Za-z_][A-Za-z0-9_.-]*):(?: +(.*)|)$/;
const wordy = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

function isEntry(text: string): boolean {
  return text === "-" || text.startsWith("- ");
}

/** The value of a scalar with nothing behind it. */
function scalar(text: string): Value | undefined {
  if (text === "{}") return { value: {} };
  if (text === "[]") return { value: [] };
  if (text === "null" || text === "~") return { value: null };
  if (text === "true" || text === "false") return { value: text === "true" };
  if (/^"(?:[^"\\]|\\["\\/bfnrt])*"$/.test(text)) return { value: JSON.parse(text) };
  if (/^'(?:[^']|'')*'$/.test(text)) return { value: text.slice(1, -1).replaceAll("''", "'") };
  // What could be a number, a boolean or null in some notation is the full reader's.
  if (/^[-+.]?[0-9][0-9a-fox_.+-]*$/i.test(text) || /^[-+]?\.(?:inf|nan)$/i.test(text) || wordy.test(text)) return undefined;
  const plain = /^[A-Za-z0-9_/+.=](?:[^#: ]|:(?! |$)| (?![ #]|$))*$/.test(text);
  return plain ? { value: text } : undefined;
}
