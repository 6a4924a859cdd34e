// One request to the API server and what became of it, as data: nothing throws, nothing is retried here. Everything that
// comes back is bounded in time and size.

import { Agent, request as httpsRequest, type RequestOptions } from "node:https";
import type { IncomingMessage } from "node:http";
import { urlToHttpOptions } from "node:url";

import { type ApiRequest, headersOf, messageOf, type Outcome, outcomeOf, tlsOptions } from "./api-request.ts";
import type { Credentials } from "./credentials.ts";

/** Bytes of an answer: a pod has at most 1.5 MiB in etcd's own form. */
const largestAnswer = 4 * 1024 * 1024;

/** Milliseconds for TCP and TLS; a lost first packet is sent again after one second. */
const connectTimeoutMs = 5_000;

/**
 * Milliseconds in which a connection that was used before has to begin its answer: it may lead nowhere by now, and only a new one
 * tells. What is repeated for it does no harm: a patch says the same again, an event is named by what it says.
 */
const usuallyStaleAfterMs = 5_000;

/** Credentials whose connections are kept: the current ones, and those that requests under way may still have. */
const mostKept = 2;

/** What one attempt came to; `stale`: a connection that was used before has broken without a word. */
type Attempt = Outcome | { readonly kind: "stale"; readonly why: string };

interface Kept {
  readonly credentials: Credentials;
  readonly agent: Agent;
  /** Where each request goes. Taken apart once: a URL's text Node takes apart for each request, and copies more members each time. */
  readonly place: Pick<RequestOptions, "protocol" | "hostname" | "port">;
  /** The server's own path. */
  readonly prefix: string;
}

/** Keeps connections open, of one server and its credentials. */
export class Connection {
  readonly #sockets: number;
  readonly #staleAfterMs: number;
  #kept: readonly Kept[] = [];

  /**
   * `sockets`: requests at once; more wait for their turn. A call asks one thing after the other, and a second handshake costs more
   * than waiting for the first connection.
   */
  constructor({ sockets = 1, staleAfterMs = usuallyStaleAfterMs } = {}) {
    this.#sockets = sockets;
    this.#staleAfterMs = staleAfterMs;
  }

  /** Whether a request with these credentials needs no handshake now. */
  isReady(credentials: Credentials): boolean {
    const kept = this.#kept.find((each) => isSameServer(each.credentials, credentials));
    return kept !== undefined && Object.values(kept.agent.freeSockets).some((sockets) => (sockets?.length ?? 0) > 0);
  }

  /** Milliseconds in `timeoutMs`: until the last byte of the answer. */
  async request(credentials: Credentials, request: ApiRequest, timeoutMs: number): Promise<Outcome> {
    const end = performance.now() + timeoutMs;
    let kept: Kept;
    try {
      kept = this.#keptFor(credentials);
    } catch (error) {
      return { kind: "unusable", why: messageOf(error) };
    }
    for (;;) {
      const attempt = await once(kept, credentials, request, end - performance.now(), this.#staleAfterMs);
      if (attempt.kind !== "stale") return attempt;
      // What else is idle is as old.
      dropIdle(kept.agent);
      if (performance.now() >= end) return { kind: "broken", why: attempt.why };
    }
  }

  close(): void {
    for (const { agent } of this.#kept) agent.destroy();
    this.#kept = [];
  }

  /** A token is part of each request: only what TLS needs takes new connections. */
  #keptFor(credentials: Credentials): Kept {
    const known = this.#kept.find((each) => isSameServer(each.credentials, credentials));
    if (known !== undefined) return known;
    const url = new URL(credentials.server);
    const { protocol, hostname, port } = urlToHttpOptions(url);
    const agent = agentFor(credentials, this.#sockets);
    const kept = { credentials, agent, place: { protocol, hostname, port }, prefix: url.pathname.replace(/\/$/, "") };
    for (const { agent: old } of this.#kept.slice(mostKept - 1)) old.destroy();
    for (const { agent: old } of this.#kept) retire(old);
    this.#kept = [kept, ...this.#kept.slice(0, mostKept - 1)];
    return kept;
  }
}

function agentFor(credentials: Credentials, sockets: number): Agent {
  return new Agent({
    ...tlsOptions(credentials),
    keepAlive: true,
    // Probes of idle connections: those that lead nowhere are gone 10 s after the first one.
    keepAliveMsecs: 15_000,
    maxSockets: sockets,
    // The server ends those that are idle for long.
    maxFreeSockets: sockets,
  });
}

/** Whether connections that were made with the one serve the other. */
function isSameServer(one: Credentials, other: Credentials): boolean {
  if (one === other) return true;
  return (
    one.server === other.server &&
    one.authority === other.authority &&
    one.serverName === other.serverName &&
    one.insecure === other.insecure &&
    one.certificate?.certificate === other.certificate?.certificate &&
    one.certificate?.key === other.certificate?.key
  );
}

function dropIdle(agent: Agent): void {
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}

/** Lets requests under way end, and keeps no connection after them. */
function retire(agent: Agent): void {
  agent.maxFreeSockets = 0;
  dropIdle(agent);
}

function once(
  { agent, place, prefix }: Kept,
  credentials: Credentials,
  request: ApiRequest,
  timeoutMs: number,
  staleAfterMs: number,
): Promise<Attempt> {
  return new Promise((resolve) => {
    const { protocol, hostname, port } = place;
    const { method } = request;
    const options = {
      agent,
      protocol,
      hostname,
      port,
      method,
      path: prefix + request.path,
      headers: headersOf(credentials, request),
    };
    let phase = "waiting for another request to end";
    let outgoing: ReturnType<typeof httpsRequest>;
    try {
      outgoing = httpsRequest(options);
    } catch (error) {
      resolve({ kind: "unusable", why: messageOf(error) });
      return;
    }
    let answered = false;
    const timers: NodeJS.Timeout[] = [];
    const settle = (outcome: Attempt): void => {
      for (const timer of timers) clearTimeout(timer);
      resolve(outcome);
      if (outcome.kind !== "answer") outgoing.destroy();
    };
    const late = (ms: number, kind: "broken" | "stale"): void =>
      settle({ kind, why: `no answer after ${Math.ceil(ms)} ms (${phase})` });
    timers.push(setTimeout(() => late(timeoutMs, "broken"), timeoutMs));
    outgoing.on("socket", (socket) => {
      if (outgoing.reusedSocket) {
        phase = "waiting for the answer";
        // Half of a short time is left for a new one.
        const patience = Math.min(staleAfterMs, timeoutMs / 2);
        timers.push(setTimeout(() => answered || late(patience, "stale"), patience));
        return;
      }
      phase = "connecting";
      const connecting = setTimeout(() => late(connectTimeoutMs, "broken"), connectTimeoutMs);
      timers.push(connecting);
      socket.once("secureConnect", () => {
        clearTimeout(connecting);
        phase = "waiting for the answer";
      });
    });
    outgoing.on("error", (error) => {
      const outcome = outcomeOf(error);
      const stale = outcome.kind === "broken" && outgoing.reusedSocket && !answered;
      settle(stale ? { kind: "stale", why: outcome.why } : outcome);
    });
    outgoing.on("response", (response) => {
      answered = true;
      phase = "reading the answer";
      readAnswer(response, settle);
    });
    outgoing.end(request.body);
  });
}

function readAnswer(response: IncomingMessage, settle: (outcome: Outcome) => void): void {
  const chunks: Buffer[] = [];
  let length = 0;
  response.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length <= largestAnswer) chunks.push(chunk);
    else settle({ kind: "tooLarge", why: `the answer has more than ${largestAnswer} bytes` });
  });
  response.on("error", (error) => settle(outcomeOf(error)));
  response.on("end", () => {
    const body = Buffer.concat(chunks).toString("utf8");
    const retryAfter = response.headers["retry-after"];
    settle({ kind: "answer", status: response.statusCode ?? 0, body, retryAfter });
  });
}
