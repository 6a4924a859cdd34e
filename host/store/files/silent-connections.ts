// Bounds the connections of a server that have not sent a complete request. Beyond the bound the oldest of them is closed, so that peers that
// connect and send nothing cannot keep out others.

import type { Socket } from "node:net";

/** The connections of one server that have not sent a complete request, or no further one. */
export class SilentConnections {
  /** In order of their silence, the longest first. */
  readonly #sockets = new Set<Socket>();
  /** Sockets whose end this object learns of. */
  readonly #watched = new WeakSet<Socket>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** Counts a connection as silent from now on. Closes the connection that is silent for longest if there are too many. */
  add(socket: Socket): void {
    if (socket.destroyed) return;
    this.#sockets.add(socket);
    if (!this.#watched.has(socket)) socket.once("close", () => this.#sockets.delete(socket));
    this.#watched.add(socket);
    const [oldest] = this.#sockets;
    if (this.#sockets.size > this.#max) oldest?.destroy();
  }

  /** The connection has sent a request. */
  delete(socket: Socket): void {
    this.#sockets.delete(socket);
  }
}
