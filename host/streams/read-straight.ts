// Reading a socket or a pipe without the queue that Node's streams have for who reads later. For each chunk that queue puts off a look
// at whether there is room for more, 15 thousand instructions; a call of a delegate has twenty chunks, and all are taken at once.

import type { Readable } from "node:stream";

/**
 * Hands each chunk to `received` as it comes. When the other end has ended, what is still to be written is written, and the stream
 * closes. Nothing may have been read of it before, and nobody else may listen to its `data` or `end`.
 */
export function readStraight(stream: Readable, received: (chunk: Buffer) => void): void {
  // `push` is what whoever reads the descriptor calls with each chunk, and with null at the end (readable.push in Node's documentation).
  stream.push = (chunk: unknown): boolean => {
    if (Buffer.isBuffer(chunk)) received(chunk);
    else if ("destroySoon" in stream && typeof stream.destroySoon === "function") stream.destroySoon();
    else stream.destroy();
    return true;
  };
}
