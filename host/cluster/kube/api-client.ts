// Requests to the API server. Failures that may be temporary are repeated with a growing, jittered pause until a budget is used
// up (MO-01, MO-02, A-13).

import type { FaultKind } from "../../../src/fault/catalogue.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { isJsonObject, parseDocument } from "../../../src/json/document.ts";
import { quote } from "../../../src/json/quote.ts";
import { isAbsence } from "../../../src/kube/absence.ts";
import { pauseBefore, serverPauseMs } from "../../../src/kube/backoff.ts";
import type { ApiRequest, Outcome } from "./api-request.ts";
import type { Clock } from "../../system/clock.ts";
import { Connection } from "./connection.ts";
import type { Credentials, CredentialSource } from "./credentials.ts";

/** Settings of a client. */
export interface ApiClientInit {
  readonly credentials: CredentialSource;
  /** A daemon's connection, which calls share and which stays open; undefined: the client opens its own. */
  readonly connection?: Connection;
  /** Total time for this client's requests, pauses and repetitions included, in milliseconds. */
  readonly budgetMs: number;
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
  /** Logs a warning if a request succeeded only after repetitions. */
  readonly warn: (text: string) => void;
  /** A random number from 0 to 1. */
  readonly random?: () => number;
}

/** The server's answer: success (2xx), or a refusal that the caller handles. */
export interface ApiAnswer {
  /** 2xx, 404, 409, 410 or 422. */
  readonly status: number;
  readonly body: string;
}

/**
 * Time for which refused credentials or rights are tried again: they may be about to be rotated, and a server that was just started refuses
 * rights that it has not read yet.
 */
const maxWaitMs = 2_500;

/** The share of the remaining budget for one attempt: a request without an answer leaves time for another. */
const shareOfAttempt = 0.5;

/**
 * An attempt with less than this share of the budget, or fewer milliseconds, is not started: it would only hide the real cause.
 */
const minShareOfAttempt = 0.1;
const minAttemptMs = 500;

const answersForCaller = new Set([404, 409, 410, 422]);
const temporary = new Set([408, 425, 429, 500, 502, 503, 504]);

/** A failure that may be temporary. */
interface Setback {
  readonly kind: FaultKind;
  readonly why: string;
  /** The pause that the server requests. */
  readonly pauseMs?: number | undefined;
  /** The server refuses the credentials or rights. Retried for a short time only; other credentials may help. */
  readonly refused?: boolean;
}

/** Sends the requests of one call of a runtime, within one budget of time. */
export class ApiClient {
  readonly #init: ApiClientInit;
  readonly #connection: Connection;
  #credentials: Credentials | undefined;
  #spentMs = 0;

  constructor(init: ApiClientInit) {
    this.#init = init;
    this.#connection = init.connection ?? new Connection(init.clock);
  }

  /** The remaining budget, in milliseconds. */
  get leftMs(): number {
    return Math.max(0, this.#init.budgetMs - this.#spentMs);
  }

  /**
   * Repeats the request until there is an answer or the budget is used up. Faults: API_UNREACHABLE, API_UNTRUSTED,
   * API_UNAUTHENTICATED, API_FORBIDDEN, API_REFUSED; KUBECONFIG_INVALID, CREDENTIALS_UNREADABLE.
   */
  async call(request: ApiRequest): Promise<Result<ApiAnswer>> {
    const { now } = this.#init.clock;
    const started = now();
    const budget = this.leftMs;
    try {
      return await this.#repeat(request, started, budget);
    } finally {
      this.#spentMs += now() - started;
    }
  }

  /** One attempt without repetition, within `maxMs` and outside the budget, for requests that may be lost. */
  async attempt(request: ApiRequest, maxMs: number): Promise<Outcome | undefined> {
    const credentials = await this.#currentCredentials();
    return credentials.ok ? this.#connection.request(credentials.value, request, maxMs) : undefined;
  }

  /** Pauses, at the cost of the budget; false if the budget is too small. */
  async pause(ms: number): Promise<boolean> {
    if (ms >= this.leftMs) return false;
    await this.#init.sleep(ms);
    this.#spentMs += ms;
    return true;
  }

  close(): void {
    if (this.#init.connection === undefined) this.#connection.close();
  }

  async #repeat(request: ApiRequest, started: number, budget: number): Promise<Result<ApiAnswer>> {
    const { clock, sleep, random = Math.random, warn } = this.#init;
    const { now } = clock;
    const setbacks: Setback[] = [];
    let reread = false;
    let refusedAt: number | undefined;
    for (;;) {
      const left = budget - (now() - started);
      if (left <= 0) return this.#gaveUp(request, setbacks, now() - started);
      const credentials = await this.#currentCredentials();
      if (!credentials.ok) return credentials;
      const outcome = await this.#connection.request(credentials.value, request, Math.max(1, attemptMs(left, budget)));
      const verdict = judge(outcome, request, credentials.value, clock);
      if ("answer" in verdict) {
        if (setbacks.length > 0)
          warn(`${requestName(request)} worked after ${setbacks.length + 1} attempts: ${setbacks[0]?.why}`);
        return ok(verdict.answer);
      }
      if ("ok" in verdict) return verdict;
      setbacks.push(verdict);
      const spent = now() - started;
      if (verdict.refused === true) {
        refusedAt ??= spent;
        const fresh = await this.#reread();
        // New credentials in the file are tried once, without a pause.
        if (fresh && !reread) {
          reread = true;
          continue;
        }
        // A certificate becomes trusted only when the files change.
        const hopeless = verdict.kind === "API_UNTRUSTED" && !fresh;
        if (hopeless || spent - refusedAt > maxWaitMs) return this.#gaveUp(request, setbacks, spent);
      }
      const wait = pauseBefore(setbacks.length - 1, random, verdict.pauseMs ?? 0);
      if (spent + wait + Math.min(minAttemptMs, budget * minShareOfAttempt) >= budget)
        return this.#gaveUp(request, setbacks, spent);
      await sleep(wait);
    }
  }

  async #currentCredentials(): Promise<Result<Credentials>> {
    if (this.#credentials !== undefined) return ok(this.#credentials);
    const read = await this.#init.credentials();
    if (read.ok) this.#credentials = read.value;
    return read;
  }

  /** Reads the files again; true if they hold other credentials now. */
  async #reread(): Promise<boolean> {
    const fresh = await this.#init.credentials();
    if (!fresh.ok || JSON.stringify(fresh.value) === JSON.stringify(this.#credentials)) return false;
    this.#credentials = fresh.value;
    return true;
  }

  #gaveUp(request: ApiRequest, setbacks: readonly Setback[], spentMs: number): Result<never> {
    const last = setbacks.at(-1) ?? { kind: "API_UNREACHABLE", why: `the budget of ${this.#init.budgetMs} ms is used up` };
    const others = new Set(setbacks.slice(0, -1).map(({ why }) => why));
    others.delete(last.why);
    const tried = setbacks.length > 1 ? ` (tried ${setbacks.length} times in ${Math.round(spentMs)} ms)` : "";
    const before = [...others].slice(-5).map((why) => `before: ${why}`);
    const msg = `${requestName(request)} of ${this.#credentials?.server}: ${last.why}${tried}`;
    return failed(fault(last.kind, msg, { details: before.join("\n") }));
  }
}

type Verdict = { readonly answer: ApiAnswer } | Setback | { readonly ok: false; readonly fault: ReturnType<typeof fault> };

function attemptMs(left: number, budget: number): number {
  return Math.min(left, budget * shareOfAttempt);
}

function judge(outcome: Outcome, request: ApiRequest, credentials: Credentials, { date }: Clock): Verdict {
  switch (outcome.kind) {
    case "answer":
      return judgeAnswer(outcome, request, credentials, date);
    case "broken":
      return { kind: "API_UNREACHABLE", why: outcome.why };
    case "tooLarge":
      return failed(fault("API_REFUSED", `${requestName(request)} of ${credentials.server}: ${outcome.why}`));
    case "untrusted":
      return { kind: "API_UNTRUSTED", why: `${outcome.why}; this node's clock says ${date().toISOString()}`, refused: true };
    case "unusable":
      // The key does not match the certificate: both are probably being replaced.
      return { kind: "KUBECONFIG_INVALID", why: `credentials of ${credentials.source}: ${outcome.why}`, refused: true };
    default:
      return outcome satisfies never;
  }
}

function judgeAnswer(
  answer: Extract<Outcome, { kind: "answer" }>,
  request: ApiRequest,
  credentials: Credentials,
  date: Clock["date"],
): Verdict {
  const { status, body } = answer;
  if (status === 404 && !isAbsence(body)) return { kind: "API_UNREACHABLE", why: `HTTP 404 (${foreignAbsence})` };
  if ((status >= 200 && status < 300) || answersForCaller.has(status)) return { answer: { status, body } };
  const httpStatus = `HTTP ${status}${statusMessage(body)}`;
  if (status === 401) {
    return {
      kind: "API_UNAUTHENTICATED",
      why: `${httpStatus}; the credentials are those of ${credentials.source}`,
      refused: true,
    };
  }
  if (temporary.has(status)) {
    return { kind: "API_UNREACHABLE", why: httpStatus, pauseMs: serverPauseMs(answer.retryAfter, Date.parse, date().getTime()) };
  }
  if (status === 403) return { kind: "API_FORBIDDEN", why: httpStatus, refused: true };
  return failed(fault("API_REFUSED", `${requestName(request)} of ${credentials.server}: ${httpStatus}`));
}

/** The explanation of an answer 404 that is not the API server's. */
export const foreignAbsence = "the answer is not the API server's: does a proxy stand before it?";

/** The message of the API's Status object; empty if the body is not a Status. */
export function statusMessage(body: string): string {
  const document = parseDocument(body, { what: "the answer", kind: "API_REFUSED" });
  const message = document.ok && isJsonObject(document.value.parsed) ? document.value.parsed["message"] : undefined;
  return typeof message === "string" && message !== "" ? `: ${quote(message, 400)}` : "";
}

/** The request's name in messages. */
function requestName({ method, path }: ApiRequest): string {
  return `${method} ${path}`;
}
