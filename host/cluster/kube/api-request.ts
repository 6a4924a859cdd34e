// A request to the API server, its HTTP form, and its possible outcomes.

import type { RequestOptions } from "node:https";

import type { Credentials } from "./credentials.ts";

/**
 * Bytes of an object as JSON. It has at most 1.5 MiB in etcd's encoding, of which a byte such as `<` becomes six: nobody's object may be too long to be listed or
 * watched, because it would hold up the objects of all others.
 */
export const maxObjectBytes = 16 * 1024 * 1024;

/** One request to the API server. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** The path after the server's URL, with valid Kubernetes names. */
  readonly path: string;
  /** Content type of the body; JSON by default. */
  readonly contentType?: string;
  readonly body?: string;
  /** Requests only the metadata of an object, or of each object of a list: a pod's status may be long. */
  readonly metadataOnly?: boolean | "list";
  /** Maximum bytes of the answer; 4 MiB by default. */
  readonly maxBytes?: number;
}

/** The outcome of one attempt: an answer of any status, or the reason for none. */
export type Outcome =
  | { readonly kind: "answer"; readonly status: number; readonly body: string; readonly retryAfter: string | undefined }
  /** No answer in time. The reason may be temporary. */
  | { readonly kind: "broken"; readonly why: string }
  | { readonly kind: "tooLarge"; readonly why: string }
  /** The server's certificate is not trusted. */
  | { readonly kind: "untrusted"; readonly why: string }
  /** The credentials cannot be used: not PEM, or the key does not match the certificate. */
  | { readonly kind: "unusable"; readonly why: string };

/** Accept header for metadata only; servers without that form send the whole object. */
function metadataForms(kind: string): string {
  return `application/json;as=${kind};g=meta.k8s.io;v=v1, application/json`;
}

/** TLS options: how to verify the server, and the client certificate. */
export function tlsOptions({
  authority,
  serverName,
  insecure,
  certificate,
}: Credentials): Pick<RequestOptions, "rejectUnauthorized" | "minVersion" | "ca" | "servername" | "cert" | "key"> {
  return {
    rejectUnauthorized: !insecure,
    minVersion: "TLSv1.2",
    ...(authority === undefined ? {} : { ca: authority }),
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(certificate === undefined ? {} : { cert: certificate.certificate, key: certificate.key }),
  };
}

/** The HTTP headers of a request. */
export function headersOf(
  { token }: Credentials,
  { body, contentType = "application/json", metadataOnly = false }: ApiRequest,
): Record<string, string> {
  const partial = metadataOnly === "list" ? "PartialObjectMetadataList" : "PartialObjectMetadata";
  return {
    Accept: metadataOnly === false ? "application/json" : metadataForms(partial),
    "User-Agent": "plexus",
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { "Content-Type": contentType, "Content-Length": String(Buffer.byteLength(body)) }),
  };
}

/** Error codes of OpenSSL and Node for a rejected certificate (X509_verify_cert_error_string, tls.checkServerIdentity). */
const untrusted =
  /^(?:CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_|HOSTNAME_MISMATCH|ERR_TLS_CERT_|ERROR_IN_CERT_)/;

/** The outcome for the error of a connection. */
export function outcomeOf(error: Error): Exclude<Outcome, { readonly kind: "answer" }> {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (untrusted.test(code)) return { kind: "untrusted", why: `${messageOf(error)} (${code})` };
  if (code.startsWith("ERR_OSSL_")) return { kind: "unusable", why: `${messageOf(error)} (${code})` };
  return { kind: "broken", why: messageOf(error) };
}

/** An error's message; the first one of an AggregateError. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
