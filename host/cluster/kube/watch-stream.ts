// A watch: one request whose answer goes on, line by line, until the server ends it, it breaks, or nothing has come for too long.

import { request as httpsRequest } from "node:https";

import { headersOf, messageOf, type Outcome, outcomeOf, tlsOptions } from "./api-request.ts";
import type { Credentials } from "./credentials.ts";

/** How a watch came to its end; "answer": it was refused, or ended by the server after its lines (status 200, no body). */
export type WatchEnd = Outcome;

export interface WatchRequest {
  readonly path: string;
  /** Whether events hold nothing but objects' metadata. */
  readonly metadataOnly: boolean;
  /** The server has accepted it: from now on every change is told. */
  readonly onOpen: () => void;
  /** Answers whether the line was one; if not, the watch ends as broken. */
  readonly onLine: (line: string) => boolean;
  /** Milliseconds without a word after which it ends. */
  readonly silenceMs: number;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/**
 * Milliseconds: the API server sends a bookmark about once a minute (60 to 75 s), so a longer silence is no healthy one.
 */
export const longestSilenceMs = 90_000;

/** Milliseconds until the server accepts it. */
const openMs = 10_000;

/** Probes of the network while nothing comes: a connection that leads nowhere is found 10 s after the first one. */
const probeAfterMs = 10_000;

/** Bytes of one line, and of a refusal: an object has at most 1.5 MiB in etcd's own form. */
const longestLine = 4 * 1024 * 1024;
const lineFeed = 0x0a;

/** Watches on a connection of its own. */
export function watch(credentials: Credentials, request: WatchRequest): Promise<WatchEnd> {
  return new Promise((resolve) => {
    if (request.signal.aborted) return resolve({ kind: "broken", why: "given up" });
    let outgoing: ReturnType<typeof httpsRequest>;
    try {
      const headers = headersOf(credentials, { method: "GET", path: request.path, metadataOnly: request.metadataOnly });
      outgoing = httpsRequest(credentials.server + request.path, { ...tlsOptions(credentials), agent: false, headers });
    } catch (error) {
      return resolve({ kind: "unusable", why: messageOf(error) });
    }
    const settle = (end: WatchEnd): void => {
      clearTimeout(timer);
      request.signal.removeEventListener("abort", abort);
      outgoing.destroy();
      resolve(end);
    };
    const late = (ms: number): NodeJS.Timeout =>
      setTimeout(() => settle({ kind: "broken", why: `nothing came for ${ms} ms` }), ms);
    const abort = (): void => settle({ kind: "broken", why: "given up" });
    let timer = late(openMs);
    request.signal.addEventListener("abort", abort);
    outgoing.on("socket", (socket) => socket.setKeepAlive(true, probeAfterMs));
    outgoing.on("error", (error) => settle(outcomeOf(error)));
    outgoing.on("response", (response) => {
      const status = response.statusCode ?? 0;
      const lines = new Lines();
      response.on("data", (chunk: Buffer) => {
        if (status === 200) timer.refresh();
        const whole = lines.add(chunk);
        if (whole === undefined) return settle({ kind: "broken", why: `a line has more than ${longestLine} bytes` });
        if (status !== 200) return;
        for (const line of whole) {
          if (!request.onLine(line)) return settle({ kind: "broken", why: "a line is no event of a watch" });
        }
      });
      response.on("error", (error) => settle(outcomeOf(error)));
      response.on("end", () => {
        const retryAfter = response.headers["retry-after"];
        settle({ kind: "answer", status, body: status === 200 ? "" : lines.rest(), retryAfter });
      });
      if (status !== 200) return;
      clearTimeout(timer);
      timer = late(request.silenceMs);
      request.onOpen();
    });
    outgoing.end();
  });
}

/** Puts bytes together to lines. */
class Lines {
  #parts: Buffer[] = [];
  #length = 0;

  /** The lines that are whole now; undefined where one is too long. */
  add(chunk: Buffer): readonly string[] | undefined {
    const whole: string[] = [];
    let from = 0;
    for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, from)) {
      this.#parts.push(chunk.subarray(from, at));
      const line = this.rest();
      if (line.trim() !== "") whole.push(line);
      from = at + 1;
    }
    this.#parts.push(chunk.subarray(from));
    this.#length += chunk.length - from;
    return this.#length > longestLine ? undefined : whole;
  }

  rest(): string {
    const text = Buffer.concat(this.#parts).toString("utf8");
    this.#parts = [];
    this.#length = 0;
    return text;
  }
}
