// Finds the end of each message in OVSDB's stream: JSON objects one after the other, without a separator (RFC 7047 section 4).

/** Whether the bytes so far can be a stream of OVSDB: the complete messages among them, or the reason why not. */
export type Split =
  | { readonly ok: true; readonly messages: readonly string[] }
  | { readonly ok: false; readonly problem: string };

/** Limits of one stream, in bytes. */
export interface StreamBounds {
  /** Maximum bytes of one message, with the blanks before it. */
  readonly maxMessageBytes: number;
  /** Maximum bytes of all messages together. */
  readonly maxBytes: number;
  /** Greatest number of nested arrays and objects. */
  readonly maxDepth: number;
}

const [QUOTE, BACKSLASH, BRACE, BRACKET, END_BRACE, END_BRACKET] = [0x22, 0x5c, 0x7b, 0x5b, 0x7d, 0x5d];
const blanks: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** The state of one stream. Each byte is looked at once, whatever the size of the chunks. */
export class MessageSplitter {
  readonly #bounds: StreamBounds;
  /** The begin of a message that has not ended. */
  #pending: Uint8Array[] = [];
  #received = 0;
  /** Bytes since the end of the last message. */
  #messageBytes = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;

  constructor(bounds: StreamBounds) {
    this.#bounds = bounds;
  }

  /** Takes the next bytes of the stream. After a problem the stream cannot be read any further. */
  push(chunk: Uint8Array): Split {
    const { maxBytes, maxMessageBytes } = this.#bounds;
    this.#received += chunk.length;
    if (this.#received > maxBytes) return problem(`sends more than ${maxBytes} bytes`);
    const messages: string[] = [];
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      this.#messageBytes++;
      if (this.#messageBytes > maxMessageBytes) return problem(`sends a message of more than ${maxMessageBytes} bytes`);
      if (this.#depth === 0) {
        if (blanks.has(byte)) from = at + 1;
        else if (byte !== BRACE) return problem("sends a message that is not a JSON object");
      }
      const step = this.#follow(byte);
      if (step === "too deep") return problem(`sends a message with more than ${this.#bounds.maxDepth} levels`);
      if (step !== "end") continue;
      const text = decode([...this.#pending, chunk.subarray(from, at + 1)]);
      if (text === undefined) return problem("sends a message that is not UTF-8");
      messages.push(text);
      this.#pending = [];
      this.#messageBytes = 0;
      from = at + 1;
    }
    if (this.#depth > 0) this.#pending.push(chunk.slice(from));
    return { ok: true, messages };
  }

  /** `end`: the byte ends a message. */
  #follow(byte: number): "end" | "within" | "too deep" {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (byte === BACKSLASH) this.#escaped = true;
      else if (byte === QUOTE) this.#inString = false;
      return "within";
    }
    if (byte === QUOTE && this.#depth > 0) this.#inString = true;
    else if (byte === BRACE || byte === BRACKET) this.#depth++;
    else if (byte === END_BRACE || byte === END_BRACKET) {
      this.#depth--;
      return this.#depth === 0 ? "end" : "within";
    }
    return this.#depth > this.#bounds.maxDepth ? "too deep" : "within";
  }
}

function problem(text: string): Split {
  return { ok: false, problem: text };
}

function decode(parts: readonly Uint8Array[]): string | undefined {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
