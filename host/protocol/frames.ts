// Frames of the stream between hands and brain (PROTOCOL.md, "A frame"), without I/O: bytes in, frames out.

import { fault, type Fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { putU32, u32At } from "./fields.ts";

export const PROTOCOL_VERSION = 3;
export const FRAME_HEADER_BYTES = 12;
/** The longest payload, in bytes. */
export const PAYLOAD_MAX_BYTES = 33_554_432;
/** Set in a channel number: a nested call. */
export const NESTED_CHANNEL_BIT = 0x8000_0000;

const VERSION_OFFSET = 4;
const TYPE_OFFSET = 5;
const RESERVED_OFFSET = 6;
const CHANNEL_OFFSET = 8;

export interface Frame {
  /** One of the protocol's type numbers; what the payload means depends on it. */
  readonly type: number;
  readonly channel: number;
  readonly payload: Uint8Array;
}

/** A stream that breaks the protocol. `what` names the field and the value. Kind HANDS_PROTOCOL (999). */
export function protocolFault(what: string): Fault {
  return fault("HANDS_PROTOCOL", `hands: ${what}`);
}

/** The frame's bytes: header and payload. Fault: a payload above PAYLOAD_MAX_BYTES. */
export function encodeFrame(frame: Frame): Result<Uint8Array> {
  const { length } = frame.payload;
  if (length > PAYLOAD_MAX_BYTES) {
    return failed(
      protocolFault(`a frame of type ${frame.type} would carry ${length} bytes, at most ${PAYLOAD_MAX_BYTES} are allowed`),
    );
  }
  const bytes = Buffer.allocUnsafe(FRAME_HEADER_BYTES + length);
  putU32(bytes, 0, length);
  bytes[VERSION_OFFSET] = PROTOCOL_VERSION;
  bytes[TYPE_OFFSET] = frame.type;
  bytes[RESERVED_OFFSET] = 0;
  bytes[RESERVED_OFFSET + 1] = 0;
  putU32(bytes, CHANNEL_OFFSET, frame.channel);
  bytes.set(frame.payload, FRAME_HEADER_BYTES);
  return ok(bytes);
}

const LEAST_ROOM = 65_536;

/**
 * Cuts a stream of bytes into frames. Whoever reads puts bytes where `room()` points and says with `filled()` how many
 * came, or hands chunks to `push()`; `next()` answers the frames one by one. After a fault nothing more is to be had.
 */
export class FrameDecoder {
  /** None before there is something to hold: each connection of a daemon has a decoder. */
  #bytes: Uint8Array = new Uint8Array(0);
  #start = 0;
  #end = 0;

  /** Where the next bytes of the stream go: at least one byte, the rest of a frame under way if its length is known. */
  room(): Uint8Array {
    const held = this.#end - this.#start;
    const wanted = Math.max(LEAST_ROOM / 2, held >= FRAME_HEADER_BYTES ? this.#frameBytes() - held : 0);
    if (this.#bytes.length - this.#end < wanted) {
      const fits = this.#bytes.length >= held + wanted;
      const bytes = fits ? this.#bytes : new Uint8Array(Math.max(held + wanted, LEAST_ROOM));
      bytes.set(this.#bytes.subarray(this.#start, this.#end));
      this.#bytes = bytes;
      this.#start = 0;
      this.#end = held;
    }
    return this.#bytes.subarray(this.#end);
  }

  /** `count` bytes were put where the last `room()` pointed. */
  filled(count: number): void {
    this.#end += count;
  }

  /** The same for a chunk that lies elsewhere, and that nobody else changes from here on. */
  push(chunk: Uint8Array): void {
    if (this.#start === this.#end) {
      // Nothing is copied where nothing has to be put together; the chunk is ours from here on.
      this.#bytes = chunk;
      this.#start = 0;
      this.#end = chunk.length;
      return;
    }
    let rest = chunk;
    while (rest.length > 0) {
      const room = this.room();
      const part = rest.subarray(0, room.length);
      room.set(part);
      this.filled(part.length);
      rest = rest.subarray(part.length);
    }
  }

  /** Whether the stream may end here: no frame is half there. */
  get betweenFrames(): boolean {
    return this.#start === this.#end;
  }

  /** The next whole frame, with a payload of its own; undefined where more bytes are needed. Fault: HANDS_PROTOCOL. */
  next(): Result<Frame | undefined> {
    if (this.#end - this.#start < FRAME_HEADER_BYTES) return ok(undefined);
    const at = this.#start;
    const version = this.#bytes[at + VERSION_OFFSET];
    if (version !== PROTOCOL_VERSION)
      return failed(protocolFault(`a frame of protocol version ${version}, this is version ${PROTOCOL_VERSION}`));
    const reserved = (this.#bytes[at + RESERVED_OFFSET] ?? 0) | ((this.#bytes[at + RESERVED_OFFSET + 1] ?? 0) << 8);
    if (reserved !== 0) return failed(protocolFault(`a frame whose reserved bytes are ${reserved}, not zero`));
    const length = u32At(this.#bytes, at);
    if (length > PAYLOAD_MAX_BYTES)
      return failed(protocolFault(`a frame of ${length} bytes, at most ${PAYLOAD_MAX_BYTES} are allowed`));
    const end = at + this.#frameBytes();
    if (this.#end < end) return ok(undefined);
    this.#start = end;
    const type = this.#bytes[at + TYPE_OFFSET] ?? 0;
    const channel = u32At(this.#bytes, at + CHANNEL_OFFSET);
    const payload = new Uint8Array(this.#bytes.subarray(at + FRAME_HEADER_BYTES, end));
    if (this.#start === this.#end) this.#giveBack();
    return ok({ type, channel, payload });
  }

  /** Of the first frame, whose header is there; a length beyond the bound counts as the bound. */
  #frameBytes(): number {
    return FRAME_HEADER_BYTES + Math.min(u32At(this.#bytes, this.#start), PAYLOAD_MAX_BYTES);
  }

  #giveBack(): void {
    this.#start = 0;
    this.#end = 0;
    if (this.#bytes.length > LEAST_ROOM) this.#bytes = new Uint8Array(0);
  }
}
