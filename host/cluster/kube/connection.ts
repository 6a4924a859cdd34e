// One request to the API server and its outcome as data: nothing throws and nothing is retried here. Everything received is
// limited in time and size.

import { Agent, request as httpsRequest, type RequestOptions } from "node:https";
import type { IncomingMessage } from "node:http";
import { urlToHttpOptions } from "node:url";

import { type ApiRequest, headersOf, messageOf, type Outcome, outcomeOf, tlsOptions } from "./api-request.ts";
import type { Credentials } from "./credentials.ts";
import type { Clock } from "../../system/clock.ts";

/** Bytes of an answer, such as a page of a list. */
const maxAnswerBytes = 4 * 1024 * 1024;

/** Sockets whose handshake is over. Node sets `reusedSocket` only for idle ones, not for one that a waiting request takes over. */
const connected = new WeakSet<object>();

/**
 * Number of credentials whose connections are kept: those of the current credentials, and those that requests in progress may still
 * use.
 */
const maxPools = 2;

/** The outcome of one attempt; `stale`: a reused connection broke without an answer. */
type Attempt = Outcome | { readonly kind: "stale"; readonly why: string };

interface Pool {
  readonly credentials: Credentials;
  readonly agent: Agent;
  /**
   * Protocol, host and port of the server, parsed once: given a URL as text, Node parses it for each request and copies more
   * members.
   */
  readonly address: Pick<RequestOptions, "protocol" | "hostname" | "port">;
  /** The path in the server's URL. */
  readonly prefix: string;
}

/** Time limits in milliseconds. */
interface Limits {
  /**
   * Longest time until a reused connection begins its answer: the connection may be dead, which only a new one shows. Repeating the request is harmless: a
   * patch sets the same value again, and an event's name is derived from its content.
   */
  readonly staleAfterMs: number;
  /** Longest time for TCP and TLS; a lost first packet is sent again after one second. */
  readonly connectMs: number;
}

/** Keeps connections to one server open, for its current credentials. */
export class Connection {
  readonly clock: Clock;
  readonly #sockets: number;
  readonly #limits: Limits;
  #pools: readonly Pool[] = [];

  /**
   * `clock`: measures the time limits of requests. What reads and watches over this connection has the same clock. `sockets`: simultaneous
   * requests; further ones wait for their turn. A call sends one request after the other, and a second handshake costs more than waiting for
   * the first connection.
   */
  constructor(clock: Clock, sockets = 1, staleAfterMs = 5_000, connectMs = 5_000) {
    this.clock = clock;
    this.#sockets = sockets;
    this.#limits = { staleAfterMs, connectMs };
  }

  /** Whether an idle connection for these credentials exists, so that a request needs no handshake. */
  isReady(credentials: Credentials): boolean {
    const pool = this.#pools.find((each) => isSameServer(each.credentials, credentials));
    return pool !== undefined && Object.values(pool.agent.freeSockets).some((sockets) => (sockets?.length ?? 0) > 0);
  }

  /** Sends a request; `timeoutMs` covers everything up to the last byte of the answer. */
  async request(credentials: Credentials, request: ApiRequest, timeoutMs: number): Promise<Outcome> {
    const { now } = this.clock;
    const end = now() + timeoutMs;
    let pool: Pool;
    try {
      pool = this.#poolFor(credentials);
    } catch (error) {
      return { kind: "unusable", why: messageOf(error) };
    }
    for (;;) {
      const attempt = await once(pool, credentials, request, end - now(), this.#limits);
      if (attempt.kind !== "stale") return attempt;
      // Other idle connections are as old.
      dropIdle(pool.agent);
      if (now() >= end) return { kind: "broken", why: attempt.why };
    }
  }

  close(): void {
    for (const { agent } of this.#pools) agent.destroy();
    this.#pools = [];
  }

  /** A token is part of each request, so new connections are needed only if TLS settings change. */
  #poolFor(credentials: Credentials): Pool {
    const known = this.#pools.find((each) => isSameServer(each.credentials, credentials));
    if (known !== undefined) return known;
    const url = new URL(credentials.server);
    const { protocol, hostname, port } = urlToHttpOptions(url);
    const agent = agentFor(credentials, this.#sockets);
    const pool = { credentials, agent, address: { protocol, hostname, port }, prefix: url.pathname.replace(/\/$/, "") };
    for (const { agent: old } of this.#pools.slice(maxPools - 1)) old.destroy();
    for (const { agent: old } of this.#pools) retire(old);
    this.#pools = [pool, ...this.#pools.slice(0, maxPools - 1)];
    return pool;
  }
}

function agentFor(credentials: Credentials, sockets: number): Agent {
  return new Agent({
    ...tlsOptions(credentials),
    keepAlive: true,
    // TCP probes of idle connections: a dead connection is closed 10 s after the first probe.
    keepAliveMsecs: 15_000,
    maxSockets: sockets,
    // No idle timeout: the server closes connections that are idle for long.
    maxFreeSockets: sockets,
  });
}

/** Whether connections of one credentials object can be used for the other. */
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

/** Lets requests in progress finish, and keeps no idle connection afterwards. */
function retire(agent: Agent): void {
  agent.maxFreeSockets = 0;
  dropIdle(agent);
}

function once(
  { agent, address, prefix }: Pool,
  credentials: Credentials,
  request: ApiRequest,
  timeoutMs: number,
  { staleAfterMs, connectMs }: Limits,
): Promise<Attempt> {
  return new Promise((resolve) => {
    const { protocol, hostname, port } = address;
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
    /** Whether the connection was open before the request. */
    let kept = false;
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
      kept = outgoing.reusedSocket || connected.has(socket);
      if (kept) {
        phase = "waiting for the answer";
        // With a short timeout half of it is left for a new connection.
        const staleMs = Math.min(staleAfterMs, timeoutMs / 2);
        timers.push(setTimeout(() => answered || late(staleMs, "stale"), staleMs));
        return;
      }
      phase = "connecting";
      const connecting = setTimeout(() => late(connectMs, "broken"), connectMs);
      timers.push(connecting);
      socket.once("secureConnect", () => {
        clearTimeout(connecting);
        connected.add(socket);
        phase = "waiting for the answer";
      });
    });
    outgoing.on("error", (error) => {
      const outcome = outcomeOf(error);
      const stale = outcome.kind === "broken" && kept && !answered;
      settle(stale ? { kind: "stale", why: outcome.why } : outcome);
    });
    outgoing.on("response", (response) => {
      answered = true;
      phase = "reading the answer";
      readAnswer(response, request.maxBytes ?? maxAnswerBytes, settle);
    });
    outgoing.end(request.body);
  });
}

function readAnswer(response: IncomingMessage, maxBytes: number, settle: (outcome: Outcome) => void): void {
  const chunks: Buffer[] = [];
  let length = 0;
  response.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length <= maxBytes) chunks.push(chunk);
    else settle({ kind: "tooLarge", why: `the answer has more than ${maxBytes} bytes` });
  });
  response.on("error", (error) => settle(outcomeOf(error)));
  response.on("end", () => {
    const body = Buffer.concat(chunks).toString("utf8");
    const retryAfter = response.headers["retry-after"];
    settle({ kind: "answer", status: response.statusCode ?? 0, body, retryAfter });
  });
}
