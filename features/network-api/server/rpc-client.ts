// A client of the CRI Network API on a unix socket: gRPC over node:http2.

import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from "node:http2";
import { connectTo } from "../../../host/store/files/reach-socket.ts";
import { FrameReader, framed } from "../../../src/grpc/grpc-wire.ts";
import type { RpcMethod } from "../../../host/node/grpc/rpc-method.ts";
import { rpcMethods } from "./messages.ts";
import { failureIn, type RpcFailure } from "./rpc-status.ts";

/** An answer, or the failure. */
export type RpcAnswer = { readonly ok: true; readonly value: object } | { readonly ok: false; readonly failure: RpcFailure };

/** The longest answer in bytes. A server's networks fit into 4 MiB, the bound of other clients of gRPC, too. */
const maxAnswerBytes = 8 * 1024 * 1024;
/** gRPC's status codes. */
const deadlineExceeded = 4;
const internal = 13;
const unavailable = 14;

/** A connection to one socket. A failed connection fails its calls; the next call connects anew, unless the client is closed. */
export class NetworkApiClient {
  readonly #socket: string;
  #session: ClientHttp2Session | undefined;
  #closed = false;

  /** `socket`: an absolute path. */
  constructor(socket: string) {
    this.#socket = socket;
  }

  /** Calls a method with one answer. Never rejects. */
  async call(method: string, request: object, maxMs = 30_000): Promise<RpcAnswer> {
    let value: object | undefined;
    const keepOnly = (answer: object): void => {
      if (value !== undefined) throw new Error(`${method} has more than one answer`);
      value = answer;
    };
    const failure = await this.stream(method, request, keepOnly, AbortSignal.timeout(maxMs));
    if (failure !== undefined) return { ok: false, failure };
    if (value !== undefined) return { ok: true, value };
    return { ok: false, failure: failed(deadlineExceeded, `${this.#socket} gave no answer within ${maxMs} ms`) };
  }

  /**
   * Calls a method with a stream of answers, until `signal` is aborted. Resolves at the end: undefined, or the failure; an error of `onAnswer` is one.
   * Never rejects.
   */
  stream(
    method: string,
    request: object,
    onAnswer: (answer: object) => void,
    signal: AbortSignal,
  ): Promise<RpcFailure | undefined> {
    const rpc = rpcMethods.get(method);
    if (rpc === undefined) throw new Error(`deploy/proto has no method ${method}`);
    const { promise, resolve } = Promise.withResolvers<RpcFailure | undefined>();
    if (signal.aborted) return Promise.resolve(undefined);
    if (this.#closed) return Promise.resolve(failed(unavailable, `${this.#socket}: the client is closed`));
    const stream = this.#request(rpc);
    if (stream === undefined) return Promise.resolve(failed(unavailable, `${this.#socket}: the connection ends`));
    const reader = new FrameReader(maxAnswerBytes, "NETWORK_CONFIG_INVALID");
    let trailers: Readonly<Record<string, unknown>> | undefined;
    let unreadable: string | undefined;
    const keep = (headers: Readonly<Record<string, unknown>>): void => {
      if (headers["grpc-status"] !== undefined) trailers = headers;
    };
    stream.on("response", keep);
    stream.on("trailers", keep);
    stream.on("data", (chunk: Buffer) => {
      const read = reader.read(chunk);
      // Another server may send what is no message.
      try {
        if (!read.ok) throw new Error(read.fault.msg);
        for (const message of read.value) onAnswer(rpc.response.decode(message));
      } catch (error) {
        unreadable ??= error instanceof Error ? error.message : String(error);
        stream.destroy();
      }
    });
    let problem = "";
    stream.on("error", (error) => (problem = reasonOf(error.cause instanceof Error ? error.cause : error)));
    const abort = (): void => stream.close(0x8);
    signal.addEventListener("abort", abort, { once: true });
    stream.on("close", () => {
      signal.removeEventListener("abort", abort);
      if (unreadable !== undefined) resolve(failed(internal, `${this.#socket} sent an unreadable answer: ${unreadable}`));
      else if (trailers !== undefined) resolve(failureIn(trailers));
      else if (signal.aborted) resolve(undefined);
      else resolve(failed(unavailable, `${this.#socket}: ${problem || "the connection ended"}`));
    });
    stream.end(framed(rpc.request.encode(request)));
    return promise;
  }

  close(): void {
    this.#closed = true;
    this.#session?.destroy();
  }

  /** The request's stream; undefined if the session takes none although it is not closed. */
  #request({ path }: RpcMethod): ClientHttp2Stream | undefined {
    if (this.#session === undefined || this.#session.closed || this.#session.destroyed) this.#session = this.#connected();
    try {
      return this.#session.request({
        ":method": "POST",
        ":path": path,
        "content-type": "application/grpc+proto",
        te: "trailers",
      });
    } catch {
      this.#session.destroy();
      return undefined;
    }
  }

  #connected(): ClientHttp2Session {
    const session = connectHttp2("http://localhost", { createConnection: () => connectTo(this.#socket) });
    // The streams of the connection get the error, too.
    session.on("error", () => undefined);
    return session;
  }
}

function failed(code: number, message: string): RpcFailure {
  return { code, message, reason: undefined, remedy: undefined };
}

function reasonOf(error: Error): string {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const known: Readonly<Record<string, string>> = {
    ENOENT: "the socket does not exist: start plexusd with --network-socket",
    ECONNREFUSED: "no process listens on the socket",
    EACCES: "permission denied: run the command as root",
    ECONNRESET: "the daemon closed the connection: run the command as root",
  };
  return known[code] ?? error.message;
}
