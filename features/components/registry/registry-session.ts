// Requests to one repository of a registry: authorization, redirects and repetitions.

import { setTimeout as wait } from "node:timers/promises";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { readChallenge } from "../rules/challenge.ts";
import type { RegistryCredential } from "../rules/registry-credentials.ts";
import { exchange, type ExchangeAnswer, type HttpRequest } from "./http-exchange.ts";
import { basicHeader, requestToken } from "./registry-token.ts";

/** One request: `path` is relative to the repository, or a URL that the registry gave. */
export interface RegistryRequest extends Pick<HttpRequest, "method" | "body" | "maxBytes"> {
  readonly path: string | URL;
  readonly headers?: Readonly<Record<string, string>>;
}

const maxRedirects = 3;
/** Maximum bytes of the text of a redirect or a refusal. */
const maxTextBytes = 64 * 1024;
/** Waits before repetitions, in ms. Only requests without effects are repeated. */
const pausesMs = [200, 1000] as const;
const redirects: readonly number[] = [301, 302, 303, 307, 308];

/** The session. Credentials go to the registry and to the token server that the registry names, never to a host of a redirect. */
export class RegistrySession {
  /** Host, with the port if it is not the default one. */
  readonly #host: string;
  readonly #repository: string;
  readonly #credential: RegistryCredential | undefined;
  /** Hosts, with ports, that are spoken to without TLS. */
  readonly #plainHttp: readonly string[];
  /** PEM text of further trusted certificates. */
  readonly #authority: string | undefined;
  readonly #base: URL;
  /** The header Authorization that the registry accepted last. */
  #authorization: string | undefined;

  constructor(
    host: string,
    repository: string,
    credential: RegistryCredential | undefined,
    plainHttp: readonly string[],
    authority: string | undefined,
  ) {
    this.#host = host;
    this.#repository = repository;
    this.#credential = credential;
    this.#plainHttp = plainHttp.map(hostOfUrl);
    this.#authority = authority;
    // Docker Hub's API has another host name than its references.
    const server = host === "docker.io" ? "registry-1.docker.io" : host;
    const scheme = this.#plainHttp.includes(hostOfUrl(host)) ? "http" : "https";
    this.#base = new URL(`${scheme}://${server}/v2/${repository}/`);
  }

  /** The registry and the repository, for messages. */
  get name(): string {
    return `${this.#host}/${this.#repository}`;
  }

  /** The URL of a path relative to the repository. */
  url(path: string): URL {
    return new URL(path, this.#base);
  }

  /**
   * Sends a request and answers any status but 401, 403, 429 and 5xx. Faults REGISTRY_UNREACHABLE, REGISTRY_UNAUTHORIZED, REGISTRY_REFUSED,
   * ARTIFACT_INVALID for an answer that is too large.
   */
  async send(request: RegistryRequest): Promise<Result<ExchangeAnswer>> {
    const isRead = request.method === "GET" || request.method === "HEAD";
    for (const pauseMs of [...(isRead ? pausesMs : []), undefined]) {
      const answer = await this.#sendAuthorized(request);
      const isTemporary = answer.ok ? answer.value.status === 429 || answer.value.status >= 500 : isLost(answer);
      if (!isTemporary || pauseMs === undefined) return answer.ok && isTemporary ? failed(this.#unusable(answer.value)) : answer;
      await wait(pauseMs);
    }
    throw new Error("unreachable: the last repetition returns");
  }

  /** The fault for an answer with an unexpected status. */
  refusal({ status, body }: ExchangeAnswer) {
    const text = registryMessage(body);
    const kind = status === 401 || status === 403 ? "REGISTRY_UNAUTHORIZED" : "REGISTRY_REFUSED";
    return fault(kind, `${this.name}: the registry answers ${status}${text === "" ? "" : `: ${text}`}`);
  }

  /** The fault for a status that another time may be better, after the last repetition. */
  #unusable({ status, body }: ExchangeAnswer) {
    const text = registryMessage(body);
    return fault("REGISTRY_UNREACHABLE", `${this.name}: the registry answers ${status}${text === "" ? "" : `: ${text}`}`);
  }

  async #sendAuthorized(request: RegistryRequest): Promise<Result<ExchangeAnswer>> {
    const first = await this.#follow(request);
    if (!first.ok || first.value.status !== 401)
      return first.ok && first.value.status === 403 ? failed(this.refusal(first.value)) : first;
    const authorization = await this.#authorize(first.value, request.method);
    if (!authorization.ok) return authorization;
    this.#authorization = authorization.value;
    const second = await this.#follow(request);
    return second.ok && [401, 403].includes(second.value.status) ? failed(this.refusal(second.value)) : second;
  }

  /** Sends a request and follows redirects of reads. The answer 401 is always the registry's own. */
  async #follow({ path, method, headers = {}, body, maxBytes }: RegistryRequest): Promise<Result<ExchangeAnswer>> {
    let url = new URL(path, this.#base);
    const allowed = this.#requireAllowed(url);
    if (!allowed.ok) return allowed;
    for (let redirected = 0; ; redirected++) {
      const isOwn = url.origin === this.#base.origin;
      const authorization = isOwn && this.#authorization !== undefined ? { Authorization: this.#authorization } : {};
      const outcome = await exchange({
        url,
        method,
        headers: { ...headers, ...authorization },
        ...(body === undefined ? {} : { body }),
        // An answer that redirects or refuses has a text of its own. The caller checks the content's exact size.
        maxBytes: Math.max(maxBytes, maxTextBytes),
        authority: this.#authority,
      });
      const at = isOwn ? this.name : `${this.name}, redirected to ${url.host}`;
      if (outcome.kind === "tooLarge") return failed(fault("ARTIFACT_INVALID", `${at}: ${outcome.why}`));
      if (outcome.kind !== "answer") return failed(fault("REGISTRY_UNREACHABLE", `${at}: ${outcome.why}`));
      if (outcome.status === 401 && !isOwn) {
        const why = `${url.host} asks for credentials, but the credentials of ${this.#base.host} go to no other host`;
        return failed(fault("REGISTRY_UNAUTHORIZED", `${at}: ${why}`));
      }
      const { location } = outcome.headers;
      if (!redirects.includes(outcome.status) || location === undefined) return ok(outcome);
      if (method !== "GET" && method !== "HEAD") return failed(fault("REGISTRY_REFUSED", `${at}: a ${method} was redirected`));
      if (redirected === maxRedirects) return failed(fault("REGISTRY_REFUSED", `${at}: more than ${maxRedirects} redirects`));
      if (!URL.canParse(location, url)) return failed(fault("REGISTRY_REFUSED", `${at}: a redirect to ${quote(location, 100)}`));
      url = new URL(location, url);
      const next = this.#requireAllowed(url);
      if (!next.ok) return next;
    }
  }

  /** Refuses a URL without TLS, unless its host may be spoken to so, and a URL with credentials in it. */
  #requireAllowed(url: URL): Result<void> {
    if (url.username !== "" || url.password !== "")
      return failed(
        fault("REGISTRY_REFUSED", `${this.name}: the registry leads to a URL of ${url.host} that contains credentials`),
      );
    if (url.protocol === "https:" || (url.protocol === "http:" && this.#plainHttp.includes(url.host))) return ok(undefined);
    return failed(fault("REGISTRY_REFUSED", `${this.name}: the registry leads to ${quote(url.origin, 100)}, which has no TLS`));
  }

  /** The header Authorization for the registry's challenge. */
  async #authorize({ headers }: ExchangeAnswer, method: RegistryRequest["method"]): Promise<Result<string>> {
    const challenge = readChallenge(headers["www-authenticate"] ?? "");
    if (challenge === undefined)
      return this.#unauthorized("the registry asks for credentials of a form that Plexus doesn't know");
    if (this.#credential?.kind === "registryToken") return ok(`Bearer ${this.#credential.token}`);
    if (challenge.scheme === "basic") {
      if (this.#credential?.kind !== "password")
        return this.#unauthorized("the registry asks for a user and a password, but none is given");
      return ok(basicHeader(this.#credential));
    }
    const realm = URL.canParse(challenge.realm) ? new URL(challenge.realm) : undefined;
    if (realm === undefined) return this.#unauthorized(`the registry's token server is ${quote(challenge.realm, 100)}`);
    const allowed = this.#requireAllowed(realm);
    if (!allowed.ok) return allowed;
    const scope =
      challenge.scope ?? `repository:${this.#repository}:${method === "GET" || method === "HEAD" ? "pull" : "pull,push"}`;
    const token = await requestToken({
      realm,
      service: challenge.service,
      scope,
      credential: this.#credential,
      authority: this.#authority,
    });
    return token.ok ? ok(`Bearer ${token.value}`) : failed({ ...token.fault, msg: `${this.name}: ${token.fault.msg}` });
  }

  #unauthorized(why: string): Result<never> {
    return failed(fault("REGISTRY_UNAUTHORIZED", `${this.name}: ${why}`));
  }
}

/** A host as `URL.host` has it: in lower case, and without the port 80. */
function hostOfUrl(host: string): string {
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).host : host;
}

function isLost(answer: { readonly ok: false; readonly fault: { readonly kind: string } }): boolean {
  return answer.fault.kind === "REGISTRY_UNREACHABLE";
}

/** The messages of an error answer (OCI distribution, "Error Codes"), quoted. */
function registryMessage(body: Uint8Array): string {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString("utf8"));
    const errors = isJsonObject(value) && Array.isArray(value["errors"]) ? value["errors"] : [];
    const texts = errors.map((each: unknown) =>
      isJsonObject(each) ? `${String(each["code"])}: ${String(each["message"])}` : "",
    );
    return texts.length === 0 ? "" : quote(texts.join("; "), 200);
  } catch {
    return "";
  }
}
