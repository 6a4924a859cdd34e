// Frames of the stream between shim and engine (PROTOCOL.md, "A frame"), without I/O: bytes in, frames out.

import { fault, type Fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { putU32, u32At } from "./fields.ts";

/** The version of the protocol, which every frame has. */
export const PROTOCOL_VERSION = 4;
/** Size of a frame's header, in bytes. */
const FRAME_HEADER_BYTES = 12;
/** Maximum of a payload, in bytes. */
export const PAYLOAD_MAX_BYTES = 33_554_432;
/** This bit of a channel number marks a nested call. */
export const NESTED_CHANNEL_BIT = 0x8000_0000;

const VERSION_OFFSET = 4;
const TYPE_OFFSET = 5;
const RESERVED_OFFSET = 6;
const CHANNEL_OFFSET = 8;

/** One frame of the stream. */
export interface Frame {
  /** One of the protocol's type numbers. It determines the payload's fields. */
  readonly type: number;
  readonly channel: number;
  readonly payload: Uint8Array;
}

/** The fault of a malformed stream: SHIM_PROTOCOL (999). `what` names the field and the value. */
export function protocolFault(what: string): Fault {
  return fault("SHIM_PROTOCOL", `shim: ${what}`);
}

/** The frame's bytes: header and payload, in two parts, because a payload may be large. Fault: a payload above PAYLOAD_MAX_BYTES. */
export function frameParts(frame: Frame): Result<readonly [header: Uint8Array, payload: Uint8Array]> {
  const { length } = frame.payload;
  if (length > PAYLOAD_MAX_BYTES) {
    return failed(
      protocolFault(`a frame of type ${frame.type} would carry ${length} bytes, at most ${PAYLOAD_MAX_BYTES} are allowed`),
    );
  }
  const bytes = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
  putU32(bytes, 0, length);
  bytes[VERSION_OFFSET] = PROTOCOL_VERSION;
  bytes[TYPE_OFFSET] = frame.type;
  bytes[RESERVED_OFFSET] = 0;
  bytes[RESERVED_OFFSET + 1] = 0;
  putU32(bytes, CHANNEL_OFFSET, frame.channel);
  return ok([bytes, frame.payload]);
}

/** The frame's bytes in one part. Fault: that of `frameParts`. */
export function encodeFrame(frame: Frame): Result<Uint8Array> {
  const parts = frameParts(frame);
  return parts.ok ? ok(Buffer.concat(parts.value)) : parts;
}

const minCapacity = 65_536;

/**
 * Cuts a stream of bytes into frames. The reader puts bytes into `freeSpace()` and calls `filled()` with their number, or passes chunks to
 * `push()`. `next()` answers the frames one by one. After a fault the decoder must not be used any more.
 */
export class FrameDecoder {
  /** Empty until bytes arrive: each connection of a daemon has a decoder. */
  #bytes: Uint8Array = new Uint8Array(0);
  #start = 0;
  #end = 0;

  /** Memory for the next bytes: at least one byte, or the rest of an incomplete frame if its length is known. */
  freeSpace(): Uint8Array {
    const held = this.#end - this.#start;
    const wanted = Math.max(minCapacity / 2, held >= FRAME_HEADER_BYTES ? this.#frameBytes() - held : 0);
    if (this.#bytes.length - this.#end < wanted) {
      const fits = this.#bytes.length >= held + wanted;
      const bytes = fits ? this.#bytes : new Uint8Array(Math.max(held + wanted, minCapacity));
      bytes.set(this.#bytes.subarray(this.#start, this.#end));
      this.#bytes = bytes;
      this.#start = 0;
      this.#end = held;
    }
    return this.#bytes.subarray(this.#end);
  }

  /** Takes `count` bytes that were put into the last `freeSpace()`. */
  filled(count: number): void {
    this.#end += count;
  }

  /** Takes a chunk. The decoder owns the chunk from now on. */
  push(chunk: Uint8Array): void {
    if (this.#start === this.#end) {
      // No copy: the decoder holds no other bytes.
      this.#bytes = chunk;
      this.#start = 0;
      this.#end = chunk.length;
      return;
    }
    let rest = chunk;
    while (rest.length > 0) {
      const free = this.freeSpace();
      const part = rest.subarray(0, free.length);
      free.set(part);
      this.filled(part.length);
      rest = rest.subarray(part.length);
    }
  }

  /** Whether the stream may end here: no frame is incomplete. */
  get betweenFrames(): boolean {
    return this.#start === this.#end;
  }

  /** The next complete frame, with a copy of its payload; undefined if more bytes are needed. Fault: SHIM_PROTOCOL. */
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
    if (this.#start === this.#end) this.#release();
    return ok({ type, channel, payload });
  }

  /** Length of the first frame, whose header has arrived. A payload length beyond the bound counts as the bound. */
  #frameBytes(): number {
    return FRAME_HEADER_BYTES + Math.min(u32At(this.#bytes, this.#start), PAYLOAD_MAX_BYTES);
  }

  #release(): void {
    this.#start = 0;
    this.#end = 0;
    if (this.#bytes.length > minCapacity) this.#bytes = new Uint8Array(0);
  }
}
