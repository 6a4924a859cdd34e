// All functions that rely on internals of Node, which a release of Node may change. Checked with Node 26.10.0. node-internals.test.ts
// tests each internal and names the one that a new Node lacks.

import type { Socket } from "node:net";
import type { Readable } from "node:stream";

/** The Node with which the internals were checked last. */
export const checkedNodeVersion = "26.10.0";

/**
 * Hands each chunk of a socket or pipe to `received` at once, without the queue of Node's streams. After the peer's end the stream writes
 * what is queued, then closes. The stream must not have been read before, and must have no other listener of `data` or `end`.
 *
 * Why: for each chunk the queue schedules a check for free space, which takes 15 thousand instructions. A call of a delegate has twenty chunks,
 * and this process consumes all of them at once.
 *
 * Internal: the reader of the descriptor calls `push` with each chunk, and with null at the end.
 */
export function readUnbuffered(stream: Readable, received: (chunk: Buffer) => void): void {
  stream.push = (chunk: unknown): boolean => {
    if (Buffer.isBuffer(chunk)) received(chunk);
    else if ("destroySoon" in stream && typeof stream.destroySoon === "function") stream.destroySoon();
    else stream.destroy();
    return true;
  };
}

/**
 * The file descriptor of a connected socket; undefined once it is closed.
 *
 * Internal: `_handle.fd`. Node has no public name for it.
 */
export function socketDescriptor(socket: Socket): number | undefined {
  const handle: unknown = Reflect.get(socket, "_handle");
  const fd: unknown = typeof handle === "object" && handle !== null ? Reflect.get(handle, "fd") : undefined;
  return typeof fd === "number" && fd >= 0 ? fd : undefined;
}
