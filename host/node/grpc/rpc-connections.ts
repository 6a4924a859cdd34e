// The connections of a socket that serves gRPC: who may connect, and how many at once.

import {
  createServer as createHttp2Server,
  type Http2Server,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { createServer, type Server, type Socket } from "node:net";
import { ok, type Result } from "../../../src/fault/result.ts";
import { listenOn, stopListening, uidOf } from "../../store/files/unix-socket.ts";
import type { Clock } from "../../system/clock.ts";

/** Settings of the connections. */
export interface RpcConnectionsInit {
  /** Absolute path, at most 107 bytes. */
  readonly socket: string;
  /** User ids that may connect. */
  readonly uids: readonly number[];
  readonly clock: Clock;
  readonly warn: (text: string) => void;
}

/** Takes the requests of all connections. A stream of the argument may have been reset by its client already. */
export type RequestListener = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

/** Maximum connections. Each client needs one. */
export const maxConnections = 64;
/** Maximum requests of a connection at once. */
const maxStreams = 16;
/** Maximum size of a request's headers in bytes, as other servers of gRPC have it. */
const maxHeaderBytes = 8 * 1024;

interface Connection {
  readonly socket: Socket;
  requests: number;
  /** The end of the last request, or the begin of the connection, in ms of the monotonic clock. */
  idleSince: number;
}

/** The HTTP/2 connections of one socket. */
export class RpcConnections {
  readonly #init: RpcConnectionsInit;
  readonly #listener: Server;
  readonly #http: Http2Server;
  readonly #open = new Set<Connection>();
  readonly #bySession = new WeakMap<Http2Session, Connection>();

  private constructor(init: RpcConnectionsInit, onRequest: RequestListener) {
    this.#init = init;
    this.#http = createHttp2Server({
      maxSessionMemory: 8,
      maxHeaderListPairs: 64,
      settings: { maxConcurrentStreams: maxStreams, maxHeaderListSize: maxHeaderBytes, enablePush: false },
    });
    this.#http.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      this.#count(stream);
      onRequest(stream, headers);
    });
    // A broken connection ends its requests; there is nobody to tell.
    this.#http.on("sessionError", (_error: Error, session: ServerHttp2Session) => session.destroy());
    this.#listener = createServer((socket) => this.#accept(socket));
  }

  /** Listens. Fault DAEMON_SOCKET. */
  static async listen(init: RpcConnectionsInit, onRequest: RequestListener): Promise<Result<RpcConnections>> {
    const connections = new RpcConnections(init, onRequest);
    const listens = await listenOn(connections.#listener, init.socket);
    return listens.ok ? ok(connections) : listens;
  }

  /** Ends all connections. */
  close(): void {
    stopListening(this.#listener, this.#init.socket);
    this.#http.close();
    for (const { socket } of this.#open) socket.destroy();
  }

  #accept(socket: Socket): void {
    const { socket: path, uids, warn } = this.#init;
    const uid = uidOf(socket);
    const allowed = uid !== undefined && uids.includes(uid);
    if (!allowed) warn(`${path}: refused uid ${uid ?? "unknown"}: only root and the daemon's user may connect`);
    socket.on("error", () => socket.destroy());
    if (!allowed || !this.#hasPlace()) {
      socket.destroy();
      return;
    }
    const connection: Connection = { socket, requests: 0, idleSince: this.#init.clock.now() };
    this.#open.add(connection);
    socket.once("close", () => this.#open.delete(connection));
    this.#http.once("session", (session) => this.#bySession.set(session, connection));
    this.#http.emit("connection", socket);
  }

  /** Ends the connection that has been idle for the longest time, if there is no place: clients keep connections, or forget them. */
  #hasPlace(): boolean {
    if (this.#open.size < maxConnections) return true;
    const idle = [...this.#open].filter(({ requests }) => requests === 0).toSorted((a, b) => a.idleSince - b.idleSince);
    const [longest] = idle;
    if (longest === undefined) {
      this.#init.warn(
        `${this.#init.socket}: refused a connection: ${maxConnections} connections have requests, which is the maximum`,
      );
      return false;
    }
    this.#open.delete(longest);
    longest.socket.destroy();
    return true;
  }

  #count(stream: ServerHttp2Stream): void {
    const connection = stream.session && this.#bySession.get(stream.session);
    if (connection === undefined || stream.destroyed) return;
    connection.requests += 1;
    stream.once("close", () => {
      connection.requests -= 1;
      connection.idleSince = this.#init.clock.now();
    });
  }
}
