// Frames between the engine and a sandbox process: u32 length of the rest, u8 type, u32 number of the call, u32 length of the JSON, the
// JSON, raw bytes. Numbers are little endian.

/** The engine sends LOAD, CALL, ANSWER, ABANDON, ADMIT, WARM and REST; the launcher sends PROBED and LAUNCHED; the sandbox process sends the other types. */
export const frameTypes = {
  LOAD: 1,
  CALL: 2,
  ANSWER: 3,
  ABANDON: 4,
  ADMIT: 5,
  WARM: 6,
  REST: 7,
  PROBED: 14,
  LAUNCHED: 15,
  READY: 16,
  IMPORT: 17,
  LOG: 18,
  OUTCOME: 19,
  UNKNOWN: 20,
  ADMITTED: 21,
} as const;

/** A decoded frame. */
export interface Frame {
  readonly type: number;
  /** The number of the call; 0 for a frame without a call. */
  readonly call: number;
  readonly json: unknown;
  readonly raw: Buffer;
}

/** Size of the length field, in bytes. */
export const headerBytes = 4;
const innerBytes = 9;

/** Encodes a frame. */
export function encodeFrame(type: number, call: number, json: unknown, raw: readonly Uint8Array[] = []): Buffer {
  const text = JSON.stringify(json) ?? "null";
  const length = Buffer.byteLength(text);
  const rawBytes = raw.reduce((sum, { length: bytes }) => sum + bytes, 0);
  const frame = Buffer.allocUnsafe(headerBytes + innerBytes + length + rawBytes);
  frame.writeUInt32LE(innerBytes + length + rawBytes, 0);
  frame.writeUInt8(type, headerBytes);
  frame.writeUInt32LE(call, headerBytes + 1);
  frame.writeUInt32LE(length, headerBytes + 5);
  let at = headerBytes + innerBytes;
  frame.write(text, at);
  at += length;
  for (const bytes of raw) {
    frame.set(bytes, at);
    at += bytes.length;
  }
  return frame;
}

/** Decodes the bytes after the length field. Throws for a malformed frame. */
export function decodeBody(body: Buffer): Frame {
  if (body.length < innerBytes) throw new Error("a frame without its fixed fields");
  const length = body.readUInt32LE(5);
  if (innerBytes + length > body.length) throw new Error("a frame whose JSON overruns it");
  const json: unknown = JSON.parse(body.toString("utf8", innerBytes, innerBytes + length));
  return { type: body.readUInt8(0), call: body.readUInt32LE(1), json, raw: body.subarray(innerBytes + length) };
}

/** Chunks of an incomplete frame are joined up to this size: each one takes hundreds of bytes beside its content, and a process may write byte by byte. */
const joinedBytes = 1024;

/** Splits a stream into frames. Throws for a frame that is malformed or longer than `maxBytes`. */
export class FrameDecoder {
  maxBytes: number;
  #chunks: Buffer[] = [];
  #heldBytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** Takes a chunk, and answers the frames that the chunk completes. */
  push(chunk: Buffer): readonly Frame[] {
    this.#hold(chunk);
    const frames: Frame[] = [];
    for (;;) {
      const length = this.#length();
      if (length === undefined || this.#heldBytes < headerBytes + length) return frames;
      const [only] = this.#chunks;
      const bytes = only !== undefined && this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks);
      frames.push(decodeBody(bytes.subarray(headerBytes, headerBytes + length)));
      const rest = bytes.subarray(headerBytes + length);
      this.#chunks = rest.length === 0 ? [] : [rest];
      this.#heldBytes = rest.length;
    }
  }

  #hold(chunk: Buffer): void {
    this.#heldBytes += chunk.length;
    const last = this.#chunks.at(-1);
    if (last === undefined || last.length + chunk.length > joinedBytes) this.#chunks.push(chunk);
    else this.#chunks[this.#chunks.length - 1] = Buffer.concat([last, chunk]);
  }

  #length(): number | undefined {
    if (this.#heldBytes < headerBytes) return undefined;
    const [first] = this.#chunks;
    if (first !== undefined && first.length < headerBytes) this.#chunks = [Buffer.concat(this.#chunks)];
    const length = this.#chunks[0]?.readUInt32LE(0) ?? 0;
    if (length > this.maxBytes) throw new Error(`a frame of ${length} bytes (at most ${this.maxBytes})`);
    return length;
  }
}
