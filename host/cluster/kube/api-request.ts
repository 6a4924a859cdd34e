// What is asked of the API server, in which form, and what may become of it.

import type { RequestOptions } from "node:https";

import type { Credentials } from "./credentials.ts";

export interface ApiRequest {
  readonly method: "GET" | "POST" | "PATCH";
  /** From the server's URL on; names in it are valid Kubernetes names. */
  readonly path: string;
  /** Of the body; JSON unless given. */
  readonly contentType?: string;
  readonly body?: string;
  /** Whether nothing but the object's metadata is wanted, or that of each of a list's: a pod's status may be long. */
  readonly metadataOnly?: boolean | "list";
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

/** Servers that can't do the former do the latter. */
function metadataForms(kind: string): string {
  return `application/json;as=${kind};g=meta.k8s.io;v=v1, application/json`;
}

/** How a server is to be trusted, and what it is shown. */
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

/** What OpenSSL and Node say of a certificate that they don't accept (X509_verify_cert_error_string, tls.checkServerIdentity). */
const untrusted =
  /^(?:CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_|HOSTNAME_MISMATCH|ERR_TLS_CERT_|ERROR_IN_CERT_)/;

export function outcomeOf(error: Error): Exclude<Outcome, { readonly kind: "answer" }> {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (untrusted.test(code)) return { kind: "untrusted", why: `${messageOf(error)} (${code})` };
  if (code.startsWith("ERR_OSSL_")) return { kind: "unusable", why: `${messageOf(error)} (${code})` };
  return { kind: "broken", why: messageOf(error) };
}

export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
