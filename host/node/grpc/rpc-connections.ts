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
import { type DaemonSocket, listenOn, stopListening, uidOf } from "../../store/files/unix-socket.ts";
import type { Clock } from "../../system/clock.ts";

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
  readonly #at: DaemonSocket;
  readonly #clock: Clock;
  readonly #warn: (text: string) => void;
  readonly #listener: Server;
  readonly #http: Http2Server;
  readonly #open = new Set<Connection>();
  readonly #bySession = new WeakMap<Http2Session, Connection>();

  private constructor(at: DaemonSocket, clock: Clock, warn: (text: string) => void, onRequest: RequestListener) {
    this.#at = at;
    this.#clock = clock;
    this.#warn = warn;
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
  static async listen(
    at: DaemonSocket,
    clock: Clock,
    warn: (text: string) => void,
    onRequest: RequestListener,
  ): Promise<Result<RpcConnections>> {
    const connections = new RpcConnections(at, clock, warn, onRequest);
    const listens = await listenOn(connections.#listener, at.socket);
    return listens.ok ? ok(connections) : listens;
  }

  /** Ends all connections. */
  close(): void {
    stopListening(this.#listener, this.#at.socket);
    this.#http.close();
    for (const { socket } of this.#open) socket.destroy();
  }

  #accept(socket: Socket): void {
    const { socket: path, uids } = this.#at;
    const uid = uidOf(socket);
    const allowed = uid !== undefined && uids.includes(uid);
    if (!allowed) this.#warn(`${path}: refused uid ${uid ?? "unknown"}: only root and the daemon's user may connect`);
    socket.on("error", () => socket.destroy());
    if (!allowed || !this.#hasPlace()) {
      socket.destroy();
      return;
    }
    const connection: Connection = { socket, requests: 0, idleSince: this.#clock.now() };
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
      this.#warn(`${this.#at.socket}: refused a connection: ${maxConnections} connections have requests, which is the maximum`);
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
      connection.idleSince = this.#clock.now();
    });
  }
}
