// Neutron's API v2.0: requests with a token, and Neutron's errors as reasons of a provider.

import { isJsonObject } from "../../../../src/json/document.ts";
import { type JsonAnswer, type JsonRequest, requestJson, retryAfter } from "../json-client.ts";
import { failure, type ProviderFailure, type ProviderResult } from "../provider.ts";
import { keystoneTokens, type TokenSource } from "./keystone.ts";
import type { NeutronSettings } from "./settings.ts";

/** A JSON object of an answer. */
export type Body = Readonly<Record<string, unknown>>;

/** The failure of a request, with the HTTP status and Neutron's type of error (`OverQuota`), where there is an answer. */
export interface NeutronFailure extends ProviderFailure {
  readonly status?: number;
  readonly type?: string;
}

/** The outcome of a request. */
export type NeutronResult = { readonly ok: true; readonly value: Body } | NeutronFailure;

/** Neutron's types of errors that say that there is no more to give. */
const exhausted: readonly string[] = [
  "OverQuota",
  "IpAddressGenerationFailure",
  "IpAddressGenerationFailureNoMatchingSubnet",
  "NoNetworkAvailable",
];

/** The client. */
export class NeutronClient {
  readonly #base: string;
  readonly #tokens: TokenSource;

  constructor({ url, auth }: Pick<NeutronSettings, "url" | "auth">) {
    this.#base = `${url.replace(/\/$/, "").replace(/\/v2\.0$/, "")}/v2.0`;
    this.#tokens = keystoneTokens(auth);
  }

  /** Sends a request to a path below /v2.0. A refused token is renewed once. `revision`: the write needs this revision of the object. */
  async send(method: JsonRequest["method"], path: string, body?: object, revision?: number): Promise<NeutronResult> {
    for (let attempt = 0; ; attempt++) {
      const token = await this.#tokens.token();
      if (!token.ok) return token;
      const headers = {
        ...(token.value === undefined ? {} : { "x-auth-token": token.value }),
        ...(revision === undefined ? {} : { "if-match": `revision_number=${revision}` }),
      };
      const answer = await requestJson({ method, url: `${this.#base}${path}`, headers, ...(body === undefined ? {} : { body }) });
      if (answer.kind === "answer" && answer.status === 401 && attempt === 0 && token.value !== undefined) {
        this.#tokens.drop();
        continue;
      }
      return outcomeOf(answer);
    }
  }

  /** All objects of a collection, page by page. `key`: the collection's name. */
  async list(key: string, query: readonly (readonly [string, string])[]): Promise<ProviderResult<readonly Body[]>> {
    const found: Body[] = [];
    for (let marker: string | undefined; ;) {
      const page = new URLSearchParams([
        ...query.map((each) => [...each]),
        ["limit", String(pageSize)],
        ...(marker === undefined ? [] : [["marker", marker]]),
      ]);
      const answer = await this.send("GET", `/${key}?${page.toString()}`);
      if (!answer.ok) return answer;
      const objects = objectsOf(answer.value[key]);
      found.push(...objects);
      const last = objects.at(-1)?.["id"];
      if (objects.length < pageSize || typeof last !== "string" || last === marker) return { ok: true, value: found };
      marker = last;
    }
  }
}

const pageSize = 500;

/** The objects in a list of an answer. */
export function objectsOf(value: unknown): readonly Body[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function outcomeOf(answer: JsonAnswer): NeutronResult {
  if (answer.kind === "none") return failure("unavailable", `Neutron: ${answer.why}`);
  const { status, headers, body } = answer;
  if (status >= 200 && status < 300) return { ok: true, value: body };
  const error = isJsonObject(body["NeutronError"]) ? body["NeutronError"] : {};
  const type = typeof error["type"] === "string" ? error["type"].slice(0, 100) : "";
  const message = typeof error["message"] === "string" ? error["message"].slice(0, 500) : "";
  const text = `Neutron answers HTTP ${status}${type === "" ? "" : ` ${type}`}${message === "" ? "" : `: ${message}`}`;
  return { ...failure(reasonOf(status, type), text, retryAfter(headers)), status, type };
}

function reasonOf(status: number, type: string): ProviderFailure["reason"] {
  if (exhausted.includes(type)) return "quota";
  if (status === 400 || status === 404) return "invalid";
  if (status === 403 || status === 409) return "refused";
  return "unavailable";
}
