// Requests to a provider's HTTP API with JSON bodies: bounded in time and size, without redirects, because a redirect would carry credentials away.

import { retryAfterMs } from "../../../src/kube/backoff.ts";
import { systemClock } from "../../../host/system/clock.ts";
import { objectIn } from "../rules/values.ts";

/** One request. */
export interface JsonRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Maximum size of the answer in bytes; 1 MiB by default, because many requests are under way at a time. */
  readonly maxBytes?: number;
}

/** An answer, or why there is none. */
export type JsonAnswer =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers: Headers;
      readonly body: Readonly<Record<string, unknown>>;
      /** Size of the body in bytes. */
      readonly bytes: number;
    }
  | { readonly kind: "none"; readonly why: string };

/** Time limit of one request in ms: a fabric that does not answer must not stop the other ports. */
const requestMs = 10_000;
const maxAnswerBytes = 1024 * 1024;
/** Maximum size of a list in bytes: some 50,000 ports of a provider. The controller's memory must hold the parsed list. */
export const maxListBytes = 16 * 1024 * 1024;

/** Sends a request. A body that is no JSON object counts as empty, so a status is never lost. */
export async function requestJson({
  method,
  url,
  headers = {},
  body,
  maxBytes = maxAnswerBytes,
}: JsonRequest): Promise<JsonAnswer> {
  try {
    const answer = await fetch(url, {
      method,
      headers: { accept: "application/json", ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: "error",
      signal: AbortSignal.timeout(requestMs),
    });
    const text = await readBounded(answer, maxBytes);
    const { status } = answer;
    return { kind: "answer", status, headers: answer.headers, body: objectIn(text) ?? {}, bytes: Buffer.byteLength(text) };
  } catch (error) {
    return { kind: "none", why: `${method} ${new URL(url).origin}: ${whyNone(error)}` };
  }
}

/** Error codes of OpenSSL for a certificate of an unknown authority (X509_verify_cert_error_string). */
const unknownAuthority = /^(?:UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_UNTRUSTED|CERT_SIGNATURE_FAILURE)/;

/** Why there is no answer. Node's own hint for an unknown authority is an option of Node, which the chart does not set. */
function whyNone(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  if (!(cause instanceof Error)) return message;
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
  if (!unknownAuthority.test(code)) return `${message}: ${cause.message}`;
  const remedy = "add its PEM certificate to externalPorts.authority of the chart, or to the file of NODE_EXTRA_CA_CERTS";
  return `no trusted authority has signed the server's certificate (${code}). To do: ${remedy}`;
}

/** Longest pause in ms that a server may ask for. */
const maxPauseMs = 3_600_000;

/** The pause of a `Retry-After` header in ms; undefined without one, and for one that is too long. */
export function retryAfter(headers: Headers): number | undefined {
  const ms = retryAfterMs(headers.get("retry-after") ?? undefined, Date.parse, systemClock.date().getTime()) ?? 0;
  return ms > 0 && ms <= maxPauseMs ? ms : undefined;
}

/** The body of an answer. Rejects if it is too large. */
export async function readBounded(answer: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new Error(`the answer has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
