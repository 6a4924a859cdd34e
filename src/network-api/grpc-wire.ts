// The wire form of gRPC over HTTP/2: frames of messages, and texts in headers (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";

/** Bytes before each message: a compression flag, and the message's length as 32 bits in network order. */
const prefixLength = 5;

/** A message with its prefix. */
export function framed(message: Uint8Array): Uint8Array {
  const frame = new Uint8Array(prefixLength + message.length);
  new DataView(frame.buffer).setUint32(1, message.length);
  frame.set(message, prefixLength);
  return frame;
}

/** Divides a stream of bytes into messages. */
export class FrameReader {
  readonly #maxBytes: number;
  #chunks: Uint8Array[] = [];
  #length = 0;

  /** `maxBytes`: the longest message. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Whether the bytes after the last whole message are none. */
  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** The messages that these bytes complete. Faults: BOUND_EXCEEDED for a longer message, NETWORK_CONFIG_INVALID for a compressed one. */
  read(bytes: Uint8Array): Result<readonly Uint8Array[]> {
    this.#chunks.push(bytes);
    this.#length += bytes.length;
    const messages: Uint8Array[] = [];
    while (this.#length >= prefixLength) {
      const head = this.#peek(prefixLength);
      const length = new DataView(head.buffer, head.byteOffset).getUint32(1);
      if (head[0] !== 0) return failed(fault("NETWORK_CONFIG_INVALID", "the message is compressed; send it without compression"));
      if (length > this.#maxBytes)
        return failed(fault("BOUND_EXCEEDED", `the message has ${length} bytes; at most ${this.#maxBytes} are read`));
      if (this.#length < prefixLength + length) break;
      messages.push(this.#take(prefixLength + length).subarray(prefixLength));
    }
    return ok(messages);
  }

  /** The first bytes; they stay. Joins chunks only as far as needed. */
  #peek(count: number): Uint8Array {
    const [first = new Uint8Array()] = this.#chunks;
    if (first.length >= count) return first.subarray(0, count);
    this.#chunks = [joined(this.#chunks, this.#length)];
    return this.#peek(count);
  }

  #take(count: number): Uint8Array {
    const whole = joined(this.#chunks, this.#length);
    this.#chunks = count === whole.length ? [] : [whole.subarray(count)];
    this.#length -= count;
    return whole.subarray(0, count);
  }
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [only] = chunks;
  if (chunks.length === 1 && only !== undefined) return only;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/** The text of the trailer `grpc-message`: UTF-8, with `%` and bytes outside printable ASCII as `%XX`. */
export function headerText(text: string): string {
  const bytes = new TextEncoder().encode(text);
  return [...bytes]
    .map((byte) =>
      byte >= 0x20 && byte <= 0x7e && byte !== 0x25
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
    )
    .join("");
}

/** The text of a trailer `grpc-message`; a malformed one stays as it is. */
export function textOfHeader(header: string): string {
  try {
    return decodeURIComponent(header);
  } catch {
    return header;
  }
}
