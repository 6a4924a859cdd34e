// Neutron's API v2.0: requests with a token, and Neutron's errors as reasons of a provider.

import { isJsonObject } from "../../../../src/json/document.ts";
import { type JsonAnswer, type JsonRequest, maxListBytes, requestJson, retryAfter } from "../json-client.ts";
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

/** The outcome of a request. `bytes`: the size of the answer. */
export type NeutronResult = { readonly ok: true; readonly value: Body; readonly bytes: number } | NeutronFailure;

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
  send(method: JsonRequest["method"], path: string, body?: object, revision?: number): Promise<NeutronResult> {
    return this.#send({ method, url: `${this.#base}${path}`, ...(body === undefined ? {} : { body }) }, revision);
  }

  async #send(request: JsonRequest, revision?: number): Promise<NeutronResult> {
    for (let attempt = 0; ; attempt++) {
      const token = await this.#tokens.token();
      if (!token.ok) return token;
      const headers = {
        ...(token.value === undefined ? {} : { "x-auth-token": token.value }),
        ...(revision === undefined ? {} : { "if-match": `revision_number=${revision}` }),
      };
      const answer = await requestJson({ ...request, headers });
      if (answer.kind === "answer" && answer.status === 401 && attempt === 0 && token.value !== undefined) {
        this.#tokens.drop(token.value);
        continue;
      }
      return outcomeOf(answer);
    }
  }

  /**
   * All objects of a collection, page by page. `key`: the collection's name. A server may have a smaller limit than the request (`pagination_max_limit`),
   * so a short page with a link to the next one is not the last. The link itself is not followed: it could name another host. Fails with `unavailable` if
   * all pages together have more than `maxListed` objects or `maxListBytes` bytes.
   */
  async list(key: string, query: readonly (readonly [string, string])[]): Promise<ProviderResult<readonly Body[]>> {
    const found: Body[] = [];
    let bytes = 0;
    for (let marker: string | undefined; ;) {
      const page = new URLSearchParams([
        ...query.map((each) => [...each]),
        ["limit", String(pageSize)],
        ...(marker === undefined ? [] : [["marker", marker]]),
      ]);
      const answer = await this.#send({ method: "GET", url: `${this.#base}/${key}?${page.toString()}`, maxBytes: maxListBytes });
      if (!answer.ok) return answer;
      const objects = objectsOf(answer.value[key]);
      bytes += answer.bytes;
      if (found.length + objects.length > maxListed) return tooLong(`more than ${maxListed} ${key}`, key);
      if (bytes > maxListBytes) return tooLong(`${key} of more than ${maxListBytes} bytes on all pages together`, key);
      for (const object of objects) found.push(object);
      const last = objects.at(-1)?.["id"];
      const isLast = objects.length < pageSize && !objectsOf(answer.value[`${key}_links`]).some(({ rel }) => rel === "next");
      if (isLast || typeof last !== "string" || last === marker) return { ok: true, value: found };
      marker = last;
    }
  }
}

const pageSize = 500;
/** Objects of one list at most: a server that never ends its list must not fill the memory. */
const maxListed = 50_000;

function tooLong(content: string, key: string): NeutronFailure {
  const remedy = `Delete unused ${key}, or let the provider use a project of Neutron that has fewer`;
  return failure("unavailable", `Neutron lists ${content}, which plexus-controller cannot hold. ${remedy}`);
}

/** The objects in a list of an answer. */
export function objectsOf(value: unknown): readonly Body[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** The ports of a list whose ID is a text. */
export function portsOf(value: unknown): readonly Body[] {
  return objectsOf(value).filter(({ id }) => typeof id === "string");
}

function outcomeOf(answer: JsonAnswer): NeutronResult {
  if (answer.kind === "none") return failure("unavailable", `Neutron: ${answer.why}`);
  const { status, headers, body, bytes } = answer;
  if (status >= 200 && status < 300) return { ok: true, value: body, bytes };
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
