// One request to the API server and what became of it, as data: nothing throws, nothing is retried here. Everything that
// comes back is bounded in time and size.

import { Agent, request as httpsRequest, type RequestOptions } from "node:https";
import type { IncomingMessage } from "node:http";

import type { Credentials } from "./credentials.ts";

export interface ApiRequest {
  readonly method: "GET" | "POST" | "PATCH";
  /** From the server's URL on; names in it are valid Kubernetes names. */
  readonly path: string;
  /** Of the body; JSON unless given. */
  readonly contentType?: string;
  readonly body?: string;
  /** Whether nothing but the object's metadata is wanted: a pod's status may be long. */
  readonly metadataOnly?: boolean;
}

export type Outcome =
  | { readonly kind: "answer"; readonly status: number; readonly body: string; readonly retryAfter: string | undefined }
  /** Nothing came, or too late: may pass. */
  | { readonly kind: "broken"; readonly why: string }
  | { readonly kind: "tooLarge"; readonly why: string }
  /** The server's certificate is not to be trusted. */
  | { readonly kind: "untrusted"; readonly why: string }
  /** The credentials can't even be tried: not PEM, a key that isn't the certificate's. */
  | { readonly kind: "unusable"; readonly why: string };

/** Bytes of an answer: a pod has at most 1.5 MiB in etcd's own form. */
const largestAnswer = 4 * 1024 * 1024;

/** Milliseconds for TCP and TLS; a lost first packet is sent again after one second. */
const connectTimeoutMs = 5_000;

/** Servers that can't do the former do the latter. */
const metadataForms = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1, application/json";

/** Keeps one connection open per server and credentials. */
export class Connection {
  #agent: Agent | undefined;
  #credentials: Credentials | undefined;

  /** Milliseconds in `timeoutMs`: until the last byte of the answer. */
  request(credentials: Credentials, request: ApiRequest, timeoutMs: number): Promise<Outcome> {
    return new Promise((resolve) => {
      const options: RequestOptions = {
        agent: this.#agentFor(credentials),
        method: request.method,
        headers: headersOf(credentials, request),
      };
      let phase = "connecting";
      let outgoing: ReturnType<typeof httpsRequest>;
      try {
        outgoing = httpsRequest(credentials.server + request.path, options);
      } catch (error) {
        resolve({ kind: "unusable", why: messageOf(error) });
        return;
      }
      const timers: NodeJS.Timeout[] = [];
      const settle = (outcome: Outcome): void => {
        for (const timer of timers) clearTimeout(timer);
        resolve(outcome);
        if (outcome.kind !== "answer") outgoing.destroy();
      };
      const late = (ms: number): void => settle({ kind: "broken", why: `no answer after ${Math.ceil(ms)} ms (${phase})` });
      timers.push(setTimeout(() => late(timeoutMs), timeoutMs));
      const connecting = setTimeout(() => late(connectTimeoutMs), Math.min(connectTimeoutMs, timeoutMs));
      timers.push(connecting);
      const connected = (): void => {
        clearTimeout(connecting);
        phase = "waiting for the answer";
      };
      outgoing.on("socket", (socket) => {
        if (outgoing.reusedSocket) connected();
        else socket.once("secureConnect", connected);
      });
      outgoing.on("error", (error) => settle(outcomeOf(error)));
      outgoing.on("response", (response) => {
        phase = "reading the answer";
        readAnswer(response, settle);
      });
      outgoing.end(request.body);
    });
  }

  close(): void {
    this.#agent?.destroy();
    this.#agent = undefined;
  }

  #agentFor(credentials: Credentials): Agent {
    if (this.#agent !== undefined && this.#credentials === credentials) return this.#agent;
    this.#agent?.destroy();
    const { authority, serverName, insecure, certificate } = credentials;
    this.#credentials = credentials;
    this.#agent = new Agent({
      keepAlive: true,
      // A second handshake costs more than waiting for the first connection.
      maxSockets: 1,
      rejectUnauthorized: !insecure,
      minVersion: "TLSv1.2",
      ...(authority === undefined ? {} : { ca: authority }),
      ...(serverName === undefined ? {} : { servername: serverName }),
      ...(certificate === undefined ? {} : { cert: certificate.certificate, key: certificate.key }),
    });
    return this.#agent;
  }
}

function headersOf(
  { token }: Credentials,
  { body, contentType = "application/json", metadataOnly = false }: ApiRequest,
): Record<string, string> {
  return {
    Accept: metadataOnly ? metadataForms : "application/json",
    "User-Agent": "plexus",
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { "Content-Type": contentType, "Content-Length": String(Buffer.byteLength(body)) }),
  };
}

function readAnswer(response: IncomingMessage, settle: (outcome: Outcome) => void): void {
  const chunks: Buffer[] = [];
  let length = 0;
  response.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length <= largestAnswer) chunks.push(chunk);
    else settle({ kind: "tooLarge", why: `the answer has more than ${largestAnswer} bytes` });
  });
  response.on("error", (error) => settle(outcomeOf(error)));
  response.on("end", () => {
    const body = Buffer.concat(chunks).toString("utf8");
    const retryAfter = response.headers["retry-after"];
    settle({ kind: "answer", status: response.statusCode ?? 0, body, retryAfter });
  });
}

/** What OpenSSL and Node say of a certificate that they don't accept (X509_verify_cert_error_string, tls.checkServerIdentity). */
const untrusted =
  /^(?:CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_|HOSTNAME_MISMATCH|ERR_TLS_CERT_|ERROR_IN_CERT_)/;

function outcomeOf(error: Error): Outcome {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (untrusted.test(code)) return { kind: "untrusted", why: `${messageOf(error)} (${code})` };
  if (code.startsWith("ERR_OSSL_")) return { kind: "unusable", why: `${messageOf(error)} (${code})` };
  return { kind: "broken", why: messageOf(error) };
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
