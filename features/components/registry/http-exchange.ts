// One HTTP exchange with a registry or its token server: bounded in size and time, without redirects.

import { request as requestPlain, type IncomingHttpHeaders } from "node:http";
import { request as requestTls } from "node:https";
import { messageOf, outcomeOf } from "../../../host/cluster/kube/api-request.ts";

/** One request. */
export interface HttpRequest {
  readonly url: URL;
  readonly method: "GET" | "HEAD" | "POST" | "PUT";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  /** Maximum bytes of the answer's body. */
  readonly maxBytes: number;
  /** PEM text of certificates that are trusted in addition to Node's own. */
  readonly authority: string | undefined;
}

/** An answer of any status. */
export interface ExchangeAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** An answer, or why there is none. `tooLarge` will not change when the request is repeated. */
export type ExchangeOutcome =
  | ({ readonly kind: "answer" } & ExchangeAnswer)
  | { readonly kind: "broken" | "tooLarge" | "untrusted"; readonly why: string };

/** Maximum duration of one exchange, in ms. */
const timeoutMs = 60_000;
const maxHeaderBytes = 32 * 1024;

/** Sends the request and reads the whole answer. Never rejects. */
export async function exchange({ url, method, headers, body, maxBytes, authority }: HttpRequest): Promise<ExchangeOutcome> {
  const signal = AbortSignal.timeout(timeoutMs);
  const options = {
    method,
    signal,
    agent: false,
    maxHeaderSize: maxHeaderBytes,
    headers: {
      "User-Agent": "plexus",
      ...headers,
      ...(body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body)) }),
    },
  } as const;
  const tls = { minVersion: "TLSv1.2", ...(authority === undefined ? {} : { ca: authorities(authority) }) } as const;
  return new Promise((resolve) => {
    const fail = (error: Error): void => {
      if (signal.aborted) return resolve({ kind: "broken", why: `no complete answer within ${timeoutMs / 1000} s` });
      const outcome = outcomeOf(error);
      resolve(outcome.kind === "untrusted" ? outcome : { kind: "broken", why: messageOf(error) });
    };
    const sent = url.protocol === "https:" ? requestTls(url, { ...options, ...tls }) : requestPlain(url, options);
    sent.on("error", fail);
    sent.on("response", (response) => {
      const chunks: Buffer[] = [];
      let length = 0;
      response.on("error", (error) => fail(error.message === "aborted" ? new Error("the answer was broken off") : error));
      response.on("data", (chunk: Buffer) => {
        length += chunk.length;
        if (length <= maxBytes) return void chunks.push(chunk);
        resolve({ kind: "tooLarge", why: `the answer has more than ${maxBytes} bytes` });
        sent.destroy();
      });
      response.on("end", () =>
        resolve({ kind: "answer", status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
    sent.end(body);
  });
}

function authorities(extra: string): string[] {
  const { rootCertificates } = process.getBuiltinModule("node:tls");
  return [...rootCertificates, extra];
}
