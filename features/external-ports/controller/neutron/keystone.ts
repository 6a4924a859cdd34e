// Tokens of Keystone's API v3, which are kept until shortly before they expire.

import { readFile } from "node:fs/promises";
import { isJsonObject } from "../../../../src/json/document.ts";
import { systemClock } from "../../../../host/system/clock.ts";
import { requestJson, retryAfter } from "../json-client.ts";
import { failure, type ProviderResult } from "../provider.ts";
import type { NeutronSettings } from "./settings.ts";

/** A token is renewed this long before it expires, in ms: longer than a request takes. */
const marginMs = 60_000;

/** The source of tokens. */
export interface TokenSource {
  /** The token; undefined if the API needs none. */
  readonly token: () => Promise<ProviderResult<string | undefined>>;
  /** Drops a token that the API has refused. A newer one stays: many requests had the refused one. */
  readonly drop: (refused: string) => void;
}

/** Makes the source. */
export function keystoneTokens(auth: NeutronSettings["auth"], now = (): number => systemClock.date().getTime()): TokenSource {
  let kept: { readonly token: string; readonly endsAt: number } | undefined;
  /** Calls that come together share one request. */
  let pending: Promise<ProviderResult<string | undefined>> | undefined;
  return {
    token: async () => {
      if (auth.type === "none") return { ok: true, value: undefined };
      if (kept !== undefined && now() < kept.endsAt) return { ok: true, value: kept.token };
      pending ??= request(auth, now).then((answer) => {
        pending = undefined;
        if (!answer.ok) return answer;
        kept = answer.value;
        return { ok: true, value: answer.value.token };
      });
      return pending;
    },
    drop: (refused) => {
      if (kept?.token === refused) kept = undefined;
    },
  };
}

type Credentials = Exclude<NeutronSettings["auth"], { readonly type: "none" }>;

async function request(auth: Credentials, now: () => number): Promise<ProviderResult<{ token: string; endsAt: number }>> {
  const secret = await secretOf(auth.type === "password" ? auth.passwordFile : auth.secretFile);
  if (!secret.ok) return secret;
  const answer = await requestJson({
    method: "POST",
    url: `${auth.url.replace(/\/$/, "").replace(/\/v3$/, "")}/v3/auth/tokens`,
    body: { auth: identityOf(auth, secret.value) },
  });
  if (answer.kind === "none") return failure("unavailable", `Keystone: ${answer.why}`);
  const token = answer.headers.get("x-subject-token");
  if (answer.status !== 201 || token === null) {
    const why = answer.status === 401 ? "the credentials are refused" : "no token";
    return failure("unavailable", `Keystone answers HTTP ${answer.status}: ${why}`, retryAfter(answer.headers));
  }
  const described = answer.body["token"];
  const expires =
    isJsonObject(described) && typeof described["expires_at"] === "string" ? Date.parse(described["expires_at"]) : NaN;
  // Without a readable time the token serves this request and the next minute.
  return { ok: true, value: { token, endsAt: (Number.isNaN(expires) ? now() + 2 * marginMs : expires) - marginMs } };
}

function identityOf(auth: Credentials, secret: string): object {
  if (auth.type === "applicationCredential") {
    return { identity: { methods: ["application_credential"], application_credential: { id: auth.id, secret } } };
  }
  const user = { name: auth.user, domain: { name: auth.userDomain }, password: secret };
  const scope = { project: { name: auth.project, domain: { name: auth.projectDomain } } };
  return { identity: { methods: ["password"], password: { user } }, scope };
}

async function secretOf(file: string): Promise<ProviderResult<string>> {
  try {
    const secret = (await readFile(file, "utf8")).replace(/\n$/, "");
    return secret === "" ? failure("unavailable", `the file ${file} with the secret is empty`) : { ok: true, value: secret };
  } catch (error) {
    return failure("unavailable", `the secret's file cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
