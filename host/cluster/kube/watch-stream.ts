// A watch: one request whose answer continues line by line, until the server ends it, the connection breaks, or it is silent for
// too long.

import { request as httpsRequest } from "node:https";

import { headersOf, maxObjectBytes, messageOf, type Outcome, outcomeOf, tlsOptions } from "./api-request.ts";
import type { Credentials } from "./credentials.ts";

/** The end of a watch. "answer": the server refused it, or ended it after its lines (status 200, no body). */
export type WatchEnd = Outcome;

/** One watch. */
export interface WatchRequest {
  readonly path: string;
  /** Whether events contain only the objects' metadata. */
  readonly metadataOnly: boolean;
  /** Called when the server has accepted the watch: every later change arrives. */
  readonly onOpen: () => void;
  /** Answers whether the line is an event; if not, the watch ends as broken. */
  readonly onLine: (line: string) => boolean;
  /** Milliseconds of silence after which the watch ends. */
  readonly silenceMs: number;
  /** Ends the watch when aborted. */
  readonly signal: AbortSignal;
}

/** The API server sends a bookmark every 60 to 75 s, so a longer silence means that the watch is broken. In milliseconds. */
export const maxSilenceMs = 90_000;

/** Maximum time until the server accepts the watch, in milliseconds. */
const openMs = 10_000;

/** Bytes of one line, which has one object, and of a refusal's body. */
const maxLineBytes = maxObjectBytes;
const lineFeed = 0x0a;

/** Opens a watch on a separate connection. */
export function watch(credentials: Credentials, request: WatchRequest): Promise<WatchEnd> {
  return new Promise((resolve) => {
    if (request.signal.aborted) return resolve({ kind: "broken", why: "aborted" });
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
    const late = (ms: number): NodeJS.Timeout => setTimeout(() => settle({ kind: "broken", why: `no data for ${ms} ms` }), ms);
    const abort = (): void => settle({ kind: "broken", why: "aborted" });
    let timer = late(openMs);
    request.signal.addEventListener("abort", abort);
    // TCP probes after 10 s of silence: a dead connection is closed 10 s after the first probe.
    outgoing.on("socket", (socket) => socket.setKeepAlive(true, 10_000));
    outgoing.on("error", (error) => settle(outcomeOf(error)));
    outgoing.on("response", (response) => {
      const status = response.statusCode ?? 0;
      const lines = new Lines();
      response.on("data", (chunk: Buffer) => {
        if (status === 200) timer.refresh();
        const whole = lines.add(chunk);
        if (whole === undefined) return settle({ kind: "broken", why: `a line has more than ${maxLineBytes} bytes` });
        if (status !== 200) return;
        for (const line of whole) {
          if (!request.onLine(line)) return settle({ kind: "broken", why: "a line is not a watch event" });
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

/** Splits chunks into lines. */
class Lines {
  #parts: Buffer[] = [];
  #length = 0;

  /** The lines that are complete now; undefined if a line is too long. */
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
    return this.#length > maxLineBytes ? undefined : whole;
  }

  rest(): string {
    const text = Buffer.concat(this.#parts).toString("utf8");
    this.#parts = [];
    this.#length = 0;
    return text;
  }
}
