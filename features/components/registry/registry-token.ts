// Requests a token from a registry's token server (distribution's token authentication, and its OAuth 2 form for identity tokens).

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import type { RegistryCredential } from "../rules/registry-credentials.ts";
import { exchange } from "./http-exchange.ts";

/** The request for a token. */
export interface TokenRequest {
  readonly realm: URL;
  readonly service: string | undefined;
  readonly scope: string;
  readonly credential: RegistryCredential | undefined;
  readonly authority: string | undefined;
}

const maxTokenBytes = 64 * 1024;
const tokenPattern = /^[!-~]{1,65536}$/;

/** The token. Faults REGISTRY_UNREACHABLE, REGISTRY_UNAUTHORIZED. A redirect is not followed: it would get the password. */
export async function requestToken({ realm, service, scope, credential, authority }: TokenRequest): Promise<Result<string>> {
  const parameters = new URLSearchParams({ ...(service === undefined ? {} : { service }), scope });
  const common = { maxBytes: maxTokenBytes, authority };
  let outcome;
  if (credential?.kind === "identityToken") {
    parameters.set("grant_type", "refresh_token");
    parameters.set("client_id", "plexus");
    parameters.set("refresh_token", credential.token);
    const headers = { "Content-Type": "application/x-www-form-urlencoded" };
    outcome = await exchange({ url: realm, method: "POST", headers, body: parameters.toString(), ...common });
  } else {
    const url = new URL(realm);
    for (const [name, value] of parameters) url.searchParams.append(name, value);
    const headers = credential?.kind === "password" ? { Authorization: basicHeader(credential) } : {};
    outcome = await exchange({ url, method: "GET", headers, ...common });
  }
  if (outcome.kind !== "answer") return failed(fault("REGISTRY_UNREACHABLE", `the token server ${realm.host}: ${outcome.why}`));
  if (outcome.status !== 200) {
    const who = credential === undefined ? "a request without credentials" : "the credentials";
    return failed(fault("REGISTRY_UNAUTHORIZED", `the token server ${realm.host} refuses ${who} with ${outcome.status}`));
  }
  const token = tokenIn(outcome.body.toString("utf8"));
  return token === undefined
    ? failed(fault("REGISTRY_UNAUTHORIZED", `the token server ${realm.host} answers no token`))
    : ok(token);
}

/** The header Authorization for a user and a password (RFC 7617). */
export function basicHeader({ username, password }: { readonly username: string; readonly password: string }): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

function tokenIn(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const token = isJsonObject(value) ? (value["token"] ?? value["access_token"]) : undefined;
    return typeof token === "string" && tokenPattern.test(token) ? token : undefined;
  } catch {
    return undefined;
  }
}
