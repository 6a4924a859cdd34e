// Serves the CRI Network API on a unix socket: gRPC over node:http2. @grpc/grpc-js would take 18 MiB of the daemon's memory, this server 5 MiB
// (docs/reference/network-api.md).

import {
  createServer as createHttp2Server,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { createServer, type Server, type Socket } from "node:net";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { FrameReader, framed } from "../../../src/network-api/grpc-wire.ts";
import { listenOn, uidOf } from "../../store/files/unix-socket.ts";
import { type RpcMethod, rpcMethods } from "./messages.ts";
import type { NetworkRpcs } from "./network-rpcs.ts";
import { codeTrailers, faultTrailers, succeededTrailers } from "./rpc-status.ts";

/** Settings of the server. */
export interface RpcServerInit {
  /** Absolute path, at most 107 bytes. */
  readonly socket: string;
  /** User ids that may connect. */
  readonly uids: readonly number[];
  readonly warn: (text: string) => void;
}

/** Maximum size of a request in bytes: a network's list has at most 32 KiB. */
const maxRequestBytes = 256 * 1024;
/** Maximum connections. Each client needs one. */
const maxConnections = 64;
/** Maximum requests of a connection at once. */
const maxStreams = 16;
/** Longest time until a client has sent its request, in ms. */
const requestMs = 10_000;
/** Maximum bytes of events that wait for a client that does not read. */
const maxUnsentBytes = 4 * 1024 * 1024;
/** gRPC's status codes. */
const unimplemented = 12;

const responseHeaders = { ":status": 200, "content-type": "application/grpc+proto", "grpc-accept-encoding": "identity" } as const;

/** The server of one daemon. */
export class RpcServer {
  readonly #init: RpcServerInit;
  readonly #rpcs: NetworkRpcs;
  readonly #http: Http2Server;
  readonly #listener: Server;
  readonly #open = new Set<Socket>();
  readonly #methods = new Map([...rpcMethods.values()].map((method) => [method.path, method]));

  private constructor(init: RpcServerInit, rpcs: NetworkRpcs) {
    this.#init = init;
    this.#rpcs = rpcs;
    this.#http = createHttp2Server({ maxSessionMemory: 8, settings: { maxConcurrentStreams: maxStreams, enablePush: false } });
    this.#http.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => this.#request(stream, headers));
    // A broken connection ends its requests; there is nobody to tell.
    this.#http.on("sessionError", (_error: Error, session: ServerHttp2Session) => session.destroy());
    this.#listener = createServer((socket) => this.#connection(socket));
  }

  /** Listens. Fault DAEMON_SOCKET. */
  static async listen(init: RpcServerInit, rpcs: NetworkRpcs): Promise<Result<RpcServer>> {
    const server = new RpcServer(init, rpcs);
    const listens = await listenOn(server.#listener, init.socket);
    return listens.ok ? ok(server) : listens;
  }

  /** Ends all connections. */
  close(): void {
    this.#listener.close();
    this.#http.close();
    for (const socket of this.#open) socket.destroy();
  }

  #connection(socket: Socket): void {
    const { socket: path, uids, warn } = this.#init;
    const uid = uidOf(socket);
    const allowed = uid !== undefined && uids.includes(uid);
    if (!allowed) warn(`${path}: refused uid ${uid ?? "unknown"}: only root and the daemon's user may connect`);
    socket.on("error", () => socket.destroy());
    if (!allowed || this.#open.size >= maxConnections) {
      socket.destroy();
      return;
    }
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
    this.#http.emit("connection", socket);
  }

  #request(stream: ServerHttp2Stream, headers: Readonly<Record<string, unknown>>): void {
    stream.on("error", () => stream.destroy());
    const type = String(headers["content-type"]);
    if (headers[":method"] !== "POST" || !type.startsWith("application/grpc")) {
      stream.respond({ ":status": 415 }, { endStream: true });
      return;
    }
    const path = String(headers[":path"]);
    const method = this.#methods.get(path);
    const encoding = headers["grpc-encoding"] ?? "identity";
    if (method === undefined) refuse(stream, codeTrailers(unimplemented, `there is no method ${path}`));
    else if (encoding !== "identity") refuse(stream, codeTrailers(unimplemented, "requests must not be compressed"));
    else this.#read(stream, method);
  }

  /** Reads the request's only message, and answers. */
  #read(stream: ServerHttp2Stream, method: RpcMethod): void {
    const reader = new FrameReader(maxRequestBytes);
    const messages: Uint8Array[] = [];
    const late = setTimeout(() => stream.destroy(), requestMs);
    stream.once("close", () => clearTimeout(late));
    stream.on("data", (chunk: Buffer) => {
      const read = reader.read(chunk);
      const problem = read.ok ? undefined : read.fault;
      if (read.ok) messages.push(...read.value);
      if (problem === undefined && messages.length <= 1) return;
      // The client gets its answer, and until the time limit it may end what it sends.
      stream.removeAllListeners("data");
      stream.removeAllListeners("end");
      stream.resume();
      refuse(stream, faultTrailers(problem ?? fault("NETWORK_CONFIG_INVALID", `${method.name} takes one message`)));
    });
    stream.on("end", () => {
      clearTimeout(late);
      const [message] = messages;
      const request = message === undefined || !reader.isEmpty ? undefined : decoded(method, message);
      if (request === undefined)
        refuse(stream, faultTrailers(fault("NETWORK_CONFIG_INVALID", `${method.name}: malformed request`)));
      else void this.#answer(stream, method, request);
    });
  }

  async #answer(stream: ServerHttp2Stream, method: RpcMethod, request: object): Promise<void> {
    const rpc = this.#rpcs.unary[method.name];
    if (rpc === undefined) {
      this.#watch(stream, method);
      return;
    }
    const answer = await this.#guarded(method.name, async () => {
      const result = await rpc(request);
      return result.ok ? ok(framed(method.response.encode(result.value))) : result;
    });
    // The client may have gone.
    if (stream.destroyed || stream.closed) return;
    if (!answer.ok) {
      refuse(stream, faultTrailers(answer.fault));
      return;
    }
    stream.respond(responseHeaders, { waitForTrailers: true });
    stream.once("wantTrailers", () => stream.sendTrailers(succeededTrailers));
    stream.end(answer.value);
  }

  #watch(stream: ServerHttp2Stream, method: RpcMethod): void {
    if (stream.destroyed || stream.closed) return;
    stream.respond(responseHeaders, { waitForTrailers: true });
    let trailers = succeededTrailers;
    stream.once("wantTrailers", () => stream.sendTrailers(trailers));
    let stop: (() => void) | undefined;
    const end = (): void => {
      stop?.();
      stop = undefined;
      if (!stream.writableEnded) stream.end();
    };
    const started = this.#rpcs.watch((event) => {
      if (stream.destroyed || stream.writableEnded) return;
      stream.write(framed(method.response.encode(event)));
      if (stream.writableLength <= maxUnsentBytes) return;
      trailers = faultTrailers(fault("BOUND_EXCEEDED", `the client did not read ${maxUnsentBytes} bytes of events`));
      end();
    });
    if (started.ok) stop = started.value;
    else trailers = faultTrailers(started.fault);
    if (!started.ok || stream.writableEnded) end();
    stream.once("close", end);
  }

  async #guarded<T>(name: string, work: () => Promise<Result<T>>): Promise<Result<T>> {
    try {
      return await work();
    } catch (error) {
      this.#init.warn(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      return failed(fault("INTERNAL", `${name} failed; the daemon's log has the reason`));
    }
  }
}

/** Answers with trailers only. */
function refuse(stream: ServerHttp2Stream, trailers: Readonly<Record<string, string>>): void {
  if (stream.destroyed || stream.closed || stream.headersSent) return;
  stream.respond({ ...responseHeaders, ...trailers }, { endStream: true });
}

function decoded(method: RpcMethod, message: Uint8Array): object | undefined {
  try {
    return method.request.decode(message);
  } catch {
    return undefined;
  }
}
