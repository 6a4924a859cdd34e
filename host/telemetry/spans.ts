// Spans on their way to an OpenTelemetry collector: OTLP over HTTP as JSON (opentelemetry-proto 1.x, trace service). Sent in batches,
// beside the calls; what the collector doesn't take in time is dropped and counted, never waited for.

import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { SpanContext } from "../../src/trace/trace-context.ts";

export interface FinishedSpan {
  readonly context: SpanContext;
  readonly parentId: string | undefined;
  readonly name: string;
  /** Whether it is a call of ours that somebody made, a part of one, or a call of ours of somebody else. */
  readonly kind: "server" | "internal" | "client";
  /** Milliseconds of Unix time. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Why it failed; undefined where it didn't. */
  readonly failure: string | undefined;
}

export interface SpanExporterInit {
  /** Of the traces, not the base: `http://127.0.0.1:4318/v1/traces`. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Attributes of the resource, that is of this daemon. */
  readonly resource: Readonly<Record<string, string>>;
  /** Hears how many spans were sent, or dropped and why. */
  readonly told: (outcome: "sent" | "dropped", count: number, why: string) => void;
}

const mostWaiting = 4096;
const mostInBatch = 512;
/** From the first span of a batch to its sending. */
const batchMs = 1000;
const answerMs = 5000;
/** Bytes of an answer. */
const mostAnswer = 65_536;

const kinds = { internal: 1, server: 2, client: 3 } as const;

export class SpanExporter {
  readonly #init: SpanExporterInit;
  readonly #waiting: FinishedSpan[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;

  constructor(init: SpanExporterInit) {
    this.#init = init;
  }

  record(span: FinishedSpan): void {
    if (this.#waiting.length >= mostWaiting) {
      this.#init.told("dropped", 1, "more spans than the collector takes");
      return;
    }
    this.#waiting.push(span);
    this.#timer ??= setTimeout(() => void this.flush(), batchMs).unref();
  }

  /** Sends what waits; ends when it is sent or given up. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#sendAll().finally(() => (this.#sending = undefined));
    await this.#sending;
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, mostInBatch);
      const problem = await this.#send(JSON.stringify(otlpRequest(batch, this.#init.resource)));
      this.#init.told(problem === undefined ? "sent" : "dropped", batch.length, problem ?? "");
    }
  }

  /** Once more where the collector asks for patience; answers why not, in the end. */
  async #send(body: string): Promise<string | undefined> {
    const first = await this.#post(body);
    if (first.again !== true) return first.problem;
    const { setTimeout: sleep } = await import("node:timers/promises");
    await sleep(batchMs, undefined, { ref: false });
    return (await this.#post(body)).problem;
  }

  async #post(body: string): Promise<{ readonly problem?: string; readonly again?: boolean }> {
    const { url, headers } = this.#init;
    const { promise, resolve } = Promise.withResolvers<{ problem?: string; again?: boolean }>();
    const post = await requestOf(url);
    const options = {
      method: "POST",
      headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body), ...headers },
      signal: AbortSignal.timeout(answerMs),
    };
    try {
      const request = post(url, options, (response) => {
        // It says nothing more that matters, and may never end.
        response.on("error", () => undefined);
        let length = 0;
        response.on("data", (chunk: Buffer) => {
          length += chunk.length;
          if (length > mostAnswer) response.destroy();
        });
        const status = response.statusCode ?? 0;
        if (status >= 200 && status < 300) resolve({});
        else resolve({ problem: `the collector answered ${status}`, again: [429, 502, 503, 504].includes(status) });
      });
      request.on("error", (error) => resolve({ problem: error.message }));
      // After all else, and alone where the collector would speak another protocol.
      request.on("close", () => resolve({ problem: "the collector gave no answer" }));
      request.end(body);
    } catch (error) {
      // Headers that an administrator gave may not go together.
      resolve({ problem: error instanceof Error ? error.message : String(error) });
    }
    return promise;
  }
}

type Post = (url: URL, options: RequestOptions, answered: (response: IncomingMessage) => void) => ClientRequest;

async function requestOf(url: URL): Promise<Post> {
  return url.protocol === "https:" ? (await import("node:https")).request : (await import("node:http")).request;
}

/** The request of the trace service as protobuf's JSON has it: ids in hexadecimal, times as text. */
export function otlpRequest(spans: readonly FinishedSpan[], resource: Readonly<Record<string, string>>): object {
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
