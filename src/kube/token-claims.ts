// The claims of a service account's token, as far as Plexus needs them to ask for another token of the same account. The API server verifies
// tokens; nothing here does.

import { isJsonObject } from "../json/document.ts";

/** The account of a token. */
export interface TokenClaims {
  readonly namespace: string;
  readonly serviceAccount: string;
}

/** A token's claims; undefined if the text is no token of a service account. */
export function readTokenClaims(token: string): TokenClaims | undefined {
  const payload = parsed(token.split(".")[1] ?? "");
  const kubernetes = isJsonObject(payload) ? payload["kubernetes.io"] : undefined;
  if (!isJsonObject(kubernetes)) return undefined;
  const { namespace, serviceaccount } = kubernetes;
  const name = isJsonObject(serviceaccount) ? serviceaccount["name"] : undefined;
  return typeof namespace === "string" && typeof name === "string" ? { namespace, serviceAccount: name } : undefined;
}

function parsed(base64url: string): unknown {
  try {
    return JSON.parse(atob(base64url.replaceAll("-", "+").replaceAll("_", "/")));
  } catch {
    return undefined;
  }
}
