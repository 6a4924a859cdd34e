// Frames between the brain and a sandbox process: u32 length of what follows, u8 type, u32 number of the call, u32 length of the
// JSON, the JSON, then raw bytes. Numbers are little endian.

/** Brain to sandbox: LOAD, CALL, ANSWER, ABANDON. Sandbox to brain: the rest. */
export const frameTypes = {
  LOAD: 1,
  CALL: 2,
  ANSWER: 3,
  ABANDON: 4,
  READY: 16,
  IMPORT: 17,
  LOG: 18,
  OUTCOME: 19,
  UNKNOWN: 20,
} as const;

export interface Frame {
  readonly type: number;
  /** Which call it belongs to; 0 for none. */
  readonly call: number;
  readonly json: unknown;
  readonly raw: Buffer;
}

export const headerBytes = 4;
const innerBytes = 9;

/** A frame's bytes. */
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

/** What follows a frame's header. Throws on a malformed one. */
export function decodeBody(body: Buffer): Frame {
  if (body.length < innerBytes) throw new Error("a frame without its head");
  const length = body.readUInt32LE(5);
  if (innerBytes + length > body.length) throw new Error("a frame whose JSON overruns it");
  const json: unknown = JSON.parse(body.toString("utf8", innerBytes, innerBytes + length));
  return { type: body.readUInt8(0), call: body.readUInt32LE(1), json, raw: body.subarray(innerBytes + length) };
}

/** Cuts a stream into frames; throws on one that is malformed or longer than `most` bytes. */
export class FrameDecoder {
  most: number;
  private chunks: Buffer[] = [];
  private held = 0;

  constructor(most: number) {
    this.most = most;
  }

  /** The frames that `chunk` completes. */
  push(chunk: Buffer): readonly Frame[] {
    this.chunks.push(chunk);
    this.held += chunk.length;
    const frames: Frame[] = [];
    for (;;) {
      const length = this.length();
      if (length === undefined || this.held < headerBytes + length) return frames;
      const [only] = this.chunks;
      const whole = only !== undefined && this.chunks.length === 1 ? only : Buffer.concat(this.chunks);
      frames.push(decodeBody(whole.subarray(headerBytes, headerBytes + length)));
      const rest = whole.subarray(headerBytes + length);
      this.chunks = rest.length === 0 ? [] : [rest];
      this.held = rest.length;
    }
  }

  private length(): number | undefined {
    if (this.held < headerBytes) return undefined;
    const [first] = this.chunks;
    if (first !== undefined && first.length < headerBytes) this.chunks = [Buffer.concat(this.chunks)];
    const length = this.chunks[0]?.readUInt32LE(0) ?? 0;
    if (length > this.most) throw new Error(`a frame of ${length} bytes (at most ${this.most})`);
    return length;
  }
}
