// Sends spans to an OpenTelemetry collector: OTLP over HTTP as JSON (opentelemetry-proto 1.x, trace service), in batches. No call waits for
// the collector: spans that it does not accept in time are dropped and counted.

import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { SpanContext } from "../../src/trace/trace-context.ts";

/** A span without its times. */
export interface DescribedSpan {
  readonly context: SpanContext;
  readonly parentId: string | undefined;
  readonly name: string;
  /** The OTLP span kind: `server` for a runtime's call, `internal` for a delegate's step, `client` for a native plugin's step. */
  readonly kind: "server" | "internal" | "client";
  readonly attributes: Readonly<Record<string, string | number | boolean | undefined>>;
}

/** A span that has ended. */
export interface FinishedSpan extends DescribedSpan {
  /** Start and end, in milliseconds of Unix time. */
  readonly startMs: number;
  readonly endMs: number;
  /** The error message; undefined if the span succeeded. */
  readonly failure: string | undefined;
}

/** A collector of OpenTelemetry. */
export interface Collector {
  /** The URL for traces, not the base URL: `http://127.0.0.1:4318/v1/traces`. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Attributes of the OTLP resource, which is this daemon. */
  readonly resource: Readonly<Record<string, string>>;
}

/** Receives how many spans were sent, or dropped and why. */
export type OnSpans = (outcome: "sent" | "dropped", count: number, why: string) => void;

const maxWaiting = 4096;
const maxBatch = 512;
/** Delay from the first span of a batch to its sending, and before a retry, in ms. */
const batchMs = 1000;
/** Time limit for the collector's answer, in ms. */
const answerMs = 5000;
/** Maximum bytes of an answer. */
const maxAnswerBytes = 65_536;
/** Minimum time between two log lines about dropped spans, in ms. */
const dropPauseMs = 60_000;

const kinds = { internal: 1, server: 2, client: 3 } as const;

/** Receives the outcomes of an exporter for a metric and a log. `now`: a monotonic clock, in ms. */
export function countSpans(
  now: () => number,
  count: (outcome: "sent" | "dropped", spans: number) => void,
  warn: (text: string) => void,
): OnSpans {
  let loggedAt = -Infinity;
  return (outcome, spans, why) => {
    count(outcome, spans);
    if (outcome === "sent" || now() - loggedAt < dropPauseMs) return;
    loggedAt = now();
    warn(`spans were dropped: ${why}`);
  };
}

/** Takes spans that have ended. */
export interface SpanRecorder {
  record(span: FinishedSpan): void;
}

/** Sends spans to one collector. */
export class SpanExporter implements SpanRecorder {
  readonly #collector: Collector;
  readonly #onSpans: OnSpans;
  readonly #waiting: FinishedSpan[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;

  constructor(collector: Collector, onSpans: OnSpans) {
    this.#collector = collector;
    this.#onSpans = onSpans;
  }

  /** Queues a span; drops it if too many wait. */
  record(span: FinishedSpan): void {
    if (this.#waiting.length >= maxWaiting) {
      this.#onSpans("dropped", 1, "the collector is too slow");
      return;
    }
    this.#waiting.push(span);
    this.#timer ??= setTimeout(() => void this.flush(), batchMs).unref();
  }

  /** Sends the waiting spans; resolves when they are sent or dropped. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#sendAll().finally(() => (this.#sending = undefined));
    await this.#sending;
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, maxBatch);
      const problem = await this.#send(JSON.stringify(otlpRequest(batch, this.#collector.resource)));
      this.#onSpans(problem === undefined ? "sent" : "dropped", batch.length, problem ?? "");
    }
  }

  /** Sends a request, and once more if the collector is overloaded. Answers the reason of a failure. */
  async #send(body: string): Promise<string | undefined> {
    const first = await this.#post(body);
    if (first.retry !== true) return first.problem;
    const { setTimeout: sleep } = await import("node:timers/promises");
    await sleep(batchMs, undefined, { ref: false });
    return (await this.#post(body)).problem;
  }

  async #post(body: string): Promise<{ readonly problem?: string; readonly retry?: boolean }> {
    const { url, headers } = this.#collector;
    const { promise, resolve } = Promise.withResolvers<{ problem?: string; retry?: boolean }>();
    const post = await requestOf(url);
    const options = {
      method: "POST",
      headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body), ...headers },
      signal: AbortSignal.timeout(answerMs),
    };
    try {
      const request = post(url, options, (response) => {
        // The body does not matter, and may never end.
        response.on("error", () => undefined);
        let length = 0;
        response.on("data", (chunk: Buffer) => {
          length += chunk.length;
          if (length > maxAnswerBytes) response.destroy();
        });
        const status = response.statusCode ?? 0;
        if (status >= 200 && status < 300) resolve({});
        else resolve({ problem: `the collector answered HTTP status ${status}`, retry: [429, 502, 503, 504].includes(status) });
      });
      request.on("error", (error) => resolve({ problem: error.message }));
      // The last event of a request. It is the only one if the peer does not speak HTTP.
      request.on("close", () => resolve({ problem: "the collector gave no answer" }));
      request.end(body);
    } catch (error) {
      // The administrator's headers may contradict each other.
      resolve({ problem: error instanceof Error ? error.message : String(error) });
    }
    return promise;
  }
}

type Post = (url: URL, options: RequestOptions, onResponse: (response: IncomingMessage) => void) => ClientRequest;

async function requestOf(url: URL): Promise<Post> {
  return url.protocol === "https:" ? (await import("node:https")).request : (await import("node:http")).request;
}

/** An ExportTraceServiceRequest in OTLP's JSON encoding: ids in hexadecimal, 64-bit integers as strings. */
function otlpRequest(spans: readonly FinishedSpan[], resource: Readonly<Record<string, string>>): object {
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [
          {
            scope: { name: "plexus" },
            spans: spans.map(({ context, parentId, name, kind, startMs, endMs, attributes, failure }) => ({
              traceId: context.traceId,
              spanId: context.spanId,
              ...(parentId === undefined ? {} : { parentSpanId: parentId }),
              name,
              kind: kinds[kind],
              startTimeUnixNano: nanoseconds(startMs),
              endTimeUnixNano: nanoseconds(endMs),
              attributes: attributesOf(attributes),
              ...(failure === undefined ? {} : { status: { code: 2, message: failure } }),
            })),
          },
        ],
      },
    ],
  };
}

function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * 1000)) * 1000n);
}

function attributesOf(values: FinishedSpan["attributes"]): readonly object[] {
  return Object.entries(values).flatMap(([key, value]): object[] => {
    if (value === undefined || value === "") return [];
    if (typeof value === "string") return [{ key, value: { stringValue: value } }];
    if (typeof value === "boolean") return [{ key, value: { boolValue: value } }];
    return [{ key, value: Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value } }];
  });
}
