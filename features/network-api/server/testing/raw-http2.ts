// A client that sends HTTP/2 frames one by one, to do what no library of clients does. The frames are those of RFC 9113.

import { once } from "node:events";
import { connect } from "node:net";

/** Types of frames. */
const types = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, windowUpdate: 8 } as const;
const endStream = 1;
const endHeaders = 4;
const initialWindowSize = 4;

/** A frame of HTTP/2. */
function frame(type: number, flags: number, stream: number, payload: Uint8Array = new Uint8Array()): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** The begin of a connection; `window`: how many bytes of each answer the server may send. */
export function preface(window = 65_535): Buffer {
  const settings = Buffer.alloc(6);
  settings.writeUInt16BE(initialWindowSize, 0);
  settings.writeUInt32BE(window, 2);
  return Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(types.settings, 0, 0, settings)]);
}

/** The headers of a request without a body so far. */
export function headers(stream: number, path: string, more: Readonly<Record<string, string>> = {}): Buffer {
  const usual = { ":method": "POST", ":scheme": "http", ":path": path, ":authority": "x", "content-type": "application/grpc" };
  const fields = Object.entries({ ...usual, ...more }).flatMap(([name, value]) => [
    Buffer.from([0]),
    literal(name),
    literal(value),
  ]);
  return frame(types.headers, endHeaders, stream, Buffer.concat(fields));
}

export function data(stream: number, payload: Uint8Array, ends: boolean): Buffer {
  return frame(types.data, ends ? endStream : 0, stream, payload);
}

export const reset = (stream: number): Buffer => frame(types.reset, 0, stream, Buffer.from([0, 0, 0, 8]));
export const ping = (): Buffer => frame(types.ping, 0, 0, Buffer.alloc(8));
export const settings = (): Buffer => frame(types.settings, 0, 0);

/** A prefix of gRPC that announces a message of this length. */
export function announced(length: number): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(length, 1);
  return prefix;
}

/** A field of HPACK without Huffman's code: its length, and its bytes. */
function literal(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length: number[] = [];
  if (bytes.length < 127) length.push(bytes.length);
  else {
    length.push(127);
    let rest = bytes.length - 127;
    for (; rest >= 128; rest >>>= 7) length.push((rest & 127) | 128);
    length.push(rest);
  }
  return Buffer.concat([Buffer.from(length), bytes]);
}

/** A connection to a socket. */
export interface RawConnection {
  send(...frames: readonly Uint8Array[]): void;
  /** Stops or begins to read what the server sends. */
  read(on: boolean): void;
  /** The bytes that the server has sent so far, a character for each of them. */
  text(): string;
  /** Whether the server has ended the connection. */
  ended(): boolean;
  close(): void;
}

export async function connectFrames(path: string): Promise<RawConnection> {
  const socket = connect(path);
  let text = "";
  let ended = false;
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  socket.on("error", () => (ended = true));
  socket.on("close", () => (ended = true));
  await once(socket, "connect");
  return {
    send: (...frames) => {
      if (!socket.destroyed) socket.write(Buffer.concat(frames));
    },
    read: (on) => void (on ? socket.resume() : socket.pause()),
    text: () => text,
    ended: () => ended,
    close: () => socket.destroy(),
  };
}
