// The wire form of gRPC over HTTP/2: frames of messages, and texts in headers (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).

import type { FaultKind } from "../fault/catalogue.ts";
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

/** Divides a stream of bytes into messages. An unfinished message holds its own length of memory, however many pieces it comes in. */
export class FrameReader {
  readonly #maxBytes: number;
  readonly #malformed: FaultKind;
  readonly #prefix = new Uint8Array(prefixLength);
  #prefixBytes = 0;
  /** The unfinished message after its prefix. */
  #message: Uint8Array | undefined;
  #messageBytes = 0;

  /** `maxBytes`: the longest message. `malformed`: the fault of a message that cannot be read. */
  constructor(maxBytes: number, malformed: FaultKind) {
    this.#maxBytes = maxBytes;
    this.#malformed = malformed;
  }

  /** Whether the bytes after the last whole message are none. */
  get isEmpty(): boolean {
    return this.#prefixBytes === 0;
  }

  /** The memory of the unfinished message in bytes. */
  get heldBytes(): number {
    return this.#message?.length ?? 0;
  }

  /** The messages that these bytes complete. Faults: BOUND_EXCEEDED for a longer message, `malformed` for a compressed one. */
  read(bytes: Uint8Array): Result<readonly Uint8Array[]> {
    const messages: Uint8Array[] = [];
    for (let at = 0; at < bytes.length;) {
      if (this.#message === undefined) {
        const taken = bytes.subarray(at, at + prefixLength - this.#prefixBytes);
        this.#prefix.set(taken, this.#prefixBytes);
        this.#prefixBytes += taken.length;
        at += taken.length;
        if (this.#prefixBytes < prefixLength) break;
        const begun = this.#begin();
        if (!begun.ok) return begun;
        this.#message = begun.value;
      } else {
        const taken = bytes.subarray(at, at + this.#message.length - this.#messageBytes);
        this.#message.set(taken, this.#messageBytes);
        this.#messageBytes += taken.length;
        at += taken.length;
      }
      if (this.#messageBytes < this.#message.length) continue;
      messages.push(this.#message);
      this.#message = undefined;
      [this.#prefixBytes, this.#messageBytes] = [0, 0];
    }
    return ok(messages);
  }

  /** The memory for the message that the prefix announces. */
  #begin(): Result<Uint8Array> {
    const length = new DataView(this.#prefix.buffer).getUint32(1);
    if (this.#prefix[0] !== 0) return failed(fault(this.#malformed, "the message is compressed; send it without compression"));
    if (length > this.#maxBytes)
      return failed(fault("BOUND_EXCEEDED", `the message has ${length} bytes; at most ${this.#maxBytes} are read`));
    return ok(new Uint8Array(length));
  }
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
