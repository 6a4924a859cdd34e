// Serves gRPC on a unix socket over node:http2. @grpc/grpc-js would take 18 MiB of the daemon's memory, this server 5 MiB
// (docs/reference/network-api.md).

import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { FaultKind } from "../../../src/fault/catalogue.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import { FrameReader, framed } from "../../../src/grpc/grpc-wire.ts";
import type { RpcMethod, Rpcs } from "./rpc-method.ts";
import { type RequestListener, RpcConnections } from "./rpc-connections.ts";
import type { DaemonSocket } from "../../store/files/unix-socket.ts";
import type { Clock } from "../../system/clock.ts";
import { codeTrailers, succeededTrailers } from "./rpc-trailers.ts";

/** Maximum size of a request in bytes: the parameters of a network have at most 32 KiB, a selection 64 KiB. */
export const maxRequestBytes = 128 * 1024;
/** Maximum fields of a request: 32 plugins with 64 parameters and 32 capabilities each have 9,345. */
const maxFields = 16 * 1024;
/** Maximum memory of unfinished requests of all clients, in bytes. */
const maxHeldBytes = 4 * 1024 * 1024;
/** Maximum bytes of events that wait for one client that does not read. */
const maxUnsentBytes = 4 * 1024 * 1024;
/** Maximum bytes of answers and events that wait for all clients, besides short ones. */
const maxUnsentInAll = 16 * 1024 * 1024;
/** Bytes that may always wait for a client: 32 clients that watch have no more than the maximum then. */
const shortBytes = 512 * 1024;
/** Maximum length of a foreign text in an answer, in UTF-16 units. */
const maxQuoted = 120;
const malformed = `the request is malformed, or has more than ${maxFields} fields`;
/** gRPC's status codes. */
const unimplemented = 12;

const responseHeaders = { ":status": 200, "content-type": "application/grpc+proto", "grpc-accept-encoding": "identity" } as const;
const grpcType = /^application\/grpc(?:\+proto)?(?:$|;)/;

/** The service that a server offers, and its treatment of clients. */
export interface RpcService {
  /** The methods by name. */
  readonly methods: ReadonlyMap<string, RpcMethod>;
  /** The fault of a request that cannot be read. */
  readonly malformed: FaultKind;
  /** The trailers of a call that failed. */
  readonly faultTrailers: (fault: Fault) => Readonly<Record<string, string>>;
  /** Longest time until a client has sent its request, and until it has read its answer, in ms; default 10 s. */
  readonly clientMs?: number;
}

/** The server of one daemon. */
export class RpcServer {
  readonly #service: RpcService;
  readonly #warn: (text: string) => void;
  readonly #methods: ReadonlyMap<string, RpcMethod>;
  readonly #streams = new Set<ServerHttp2Stream>();
  #rpcs: Rpcs | undefined;
  #connections: RpcConnections | undefined;
  #heldBytes = 0;
  readonly #clientMs: number;

  private constructor(service: RpcService, warn: (text: string) => void) {
    this.#warn = warn;
    this.#service = service;
    this.#methods = new Map([...service.methods.values()].map((method) => [method.path, method]));
    this.#clientMs = service.clientMs ?? 10_000;
  }

  /** Listens, and makes the methods then: while another daemon has the socket, its state may change. Fault DAEMON_SOCKET. */
  static async listen(
    at: DaemonSocket,
    service: RpcService,
    clock: Clock,
    warn: (text: string) => void,
    makeRpcs: () => Rpcs,
  ): Promise<Result<RpcServer>> {
    const server = new RpcServer(service, warn);
    const onRequest: RequestListener = (stream, headers) => server.#request(stream, headers);
    const connections = await RpcConnections.listen(at, clock, warn, onRequest);
    if (!connections.ok) return connections;
    server.#connections = connections.value;
    server.#rpcs = makeRpcs();
    return ok(server);
  }

  /** Ends all connections. */
  close(): void {
    this.#connections?.close();
  }

  #request(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    stream.on("error", () => stream.destroy());
    // The client may have reset the stream already.
    if (stream.destroyed || stream.closed) return;
    this.#streams.add(stream);
    // Also for a refused request: a client that does not end it must not keep the connection's place.
    const late = setTimeout(() => stream.destroy(), this.#clientMs);
    stream.once("end", () => clearTimeout(late));
    stream.once("close", () => {
      clearTimeout(late);
      this.#streams.delete(stream);
    });
    if (headers[":method"] !== "POST" || !grpcType.test(String(headers["content-type"]))) {
      stream.respond({ ":status": 415 }, { endStream: true });
      return;
    }
    const path = String(headers[":path"]);
    const method = this.#methods.get(path);
    const encoding = headers["grpc-encoding"] ?? "identity";
    if (method === undefined) refuse(stream, codeTrailers(unimplemented, `there is no method ${quote(path, maxQuoted)}`));
    else if (encoding !== "identity") refuse(stream, codeTrailers(unimplemented, "requests must not be compressed"));
    else this.#read(stream, method);
  }

  /** Reads the request's only message, and answers. */
  #read(stream: ServerHttp2Stream, method: RpcMethod): void {
    const reader = new FrameReader(maxRequestBytes, this.#service.malformed);
    const messages: Uint8Array[] = [];
    let held = 0;
    const hold = (bytes: number): void => {
      this.#heldBytes += bytes - held;
      held = bytes;
    };
    stream.once("close", () => hold(0));
    stream.on("data", (chunk: Buffer) => {
      const read = reader.read(chunk);
      if (read.ok) messages.push(...read.value);
      if (!stream.destroyed) hold(reader.heldBytes + messages.reduce((sum, { length }) => sum + length, 0));
      const problem = read.ok ? this.#excess(method, messages.length) : read.fault;
      if (problem === undefined) return;
      // The client gets its answer, and until the time limit it may end what it sends.
      stream.removeAllListeners("data");
      stream.removeListener("end", answer);
      stream.resume();
      hold(0);
      refuse(stream, this.#service.faultTrailers(problem));
    });
    const answer = (): void => {
      const [message] = messages.splice(0);
      hold(0);
      const request = message === undefined || !reader.isEmpty ? undefined : decoded(method, message);
      if (request !== undefined) void this.#answer(stream, method, request);
      else refuse(stream, this.#service.faultTrailers(fault(this.#service.malformed, `${method.name}: ${malformed}`)));
    };
    stream.on("end", answer);
  }

  #excess(method: RpcMethod, messages: number): Fault | undefined {
    if (messages > 1) return fault(this.#service.malformed, `${method.name} takes one message`);
    if (this.#heldBytes <= maxHeldBytes) return undefined;
    return fault("BOUND_EXCEEDED", `unfinished requests have more than ${maxHeldBytes} bytes; send the request again`);
  }

  async #answer(stream: ServerHttp2Stream, method: RpcMethod, request: object): Promise<void> {
    const rpc = this.#rpcs?.unary[method.name];
    if (rpc === undefined) {
      this.#watch(stream, method);
      return;
    }
    const answer = await this.#guarded(method.name, async () => {
      const result = await rpc(request);
      if (!result.ok) return result;
      const bytes = framed(method.response.encode(result.value));
      const excess = this.#unsentExcess(bytes.length, 0);
      return excess === undefined ? ok(bytes) : failed(excess);
    });
    // The client may have gone.
    if (stream.destroyed || stream.closed) return;
    if (!answer.ok) {
      refuse(stream, this.#service.faultTrailers(answer.fault));
      return;
    }
    stream.respond(responseHeaders, { waitForTrailers: true });
    sendTrailers(stream, () => succeededTrailers);
    endWithin(stream, this.#clientMs, answer.value);
  }

  #watch(stream: ServerHttp2Stream, method: RpcMethod): void {
    if (stream.destroyed || stream.closed || this.#rpcs?.watch === undefined) return;
    stream.respond(responseHeaders, { waitForTrailers: true });
    let trailers = succeededTrailers;
    const { faultTrailers } = this.#service;
    sendTrailers(stream, () => trailers);
    let stop: (() => void) | undefined;
    const end = (): void => {
      stop?.();
      stop = undefined;
      if (!stream.writableEnded && !stream.destroyed) endWithin(stream, this.#clientMs);
    };
    const started = this.#rpcs.watch((event) => {
      if (stream.destroyed || stream.writableEnded) return;
      stream.write(framed(method.response.encode(event)));
      const excess = this.#unsentExcess(0, stream.writableLength);
      if (excess === undefined) return;
      trailers = faultTrailers(excess);
      end();
    });
    if (started.ok) stop = started.value;
    else trailers = faultTrailers(started.fault);
    if (!started.ok || stream.writableEnded) end();
    stream.once("close", end);
  }

  /** A fault if clients leave too much unread for an answer of `answerBytes`, or for a watching client with `unsentBytes`. */
  #unsentExcess(answerBytes: number, unsentBytes: number): Fault | undefined {
    if (answerBytes + unsentBytes <= shortBytes) return undefined;
    if (unsentBytes > maxUnsentBytes) return fault("BOUND_EXCEEDED", `the client did not read ${maxUnsentBytes} bytes of events`);
    const inAll = [...this.#streams].reduce((sum, { writableLength }) => sum + writableLength, answerBytes);
    if (inAll <= maxUnsentInAll) return undefined;
    return fault(
      "BOUND_EXCEEDED",
      `clients of the socket have not read ${maxUnsentInAll} bytes; read all answers, and repeat the call`,
    );
  }

  async #guarded<T>(name: string, work: () => Promise<Result<T>>): Promise<Result<T>> {
    try {
      return await work();
    } catch (error) {
      this.#warn(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      return failed(fault("INTERNAL", `${name} failed; the daemon's log has the reason`));
    }
  }
}

/** Answers with trailers only. */
function refuse(stream: ServerHttp2Stream, trailers: Readonly<Record<string, string>>): void {
  if (stream.destroyed || stream.closed || stream.headersSent) return;
  stream.respond({ ...responseHeaders, ...trailers }, { endStream: true });
}

function sendTrailers(stream: ServerHttp2Stream, trailers: () => Readonly<Record<string, string>>): void {
  stream.once("wantTrailers", () => {
    if (!stream.destroyed && !stream.closed) stream.sendTrailers(trailers());
  });
}

/** Ends the stream. A client that does not read the rest in time loses it, because the rest takes the daemon's memory. */
function endWithin(stream: ServerHttp2Stream, ms: number, bytes?: Uint8Array): void {
  const late = setTimeout(() => stream.destroy(), ms).unref();
  stream.once("close", () => clearTimeout(late));
  stream.end(bytes);
}

function decoded(method: RpcMethod, message: Uint8Array): object | undefined {
  try {
    return method.request.countFields(message) <= maxFields ? method.request.decode(message) : undefined;
  } catch {
    return undefined;
  }
}
