// Spans of plexus-controller: one for each reconciliation that sends a request or fails, with a child for each of its requests to the API. A
// reconciliation that finds nothing to do has no span: a list of 60,000 pods causes as many.

import { AsyncLocalStorage } from "node:async_hooks";
import type { WorkOutcome } from "../../cluster/work/work-queue.ts";
import type { SentRequest } from "../../cluster/kube/api-objects.ts";
import { newSpanId, newTraceId } from "../../system/ids.ts";
import type { SpanRecorder } from "../../telemetry/spans.ts";
import type { SpanContext } from "../../../src/trace/trace-context.ts";
import type { Clock } from "../../system/clock.ts";

interface ActiveWork {
  readonly context: SpanContext;
  requests: number;
}

/** Makes the spans, if there is a collector. */
export class WorkSpans {
  readonly #exporter: SpanRecorder | undefined;
  readonly #clock: Clock;
  readonly #active = new AsyncLocalStorage<ActiveWork>();

  /** Without an exporter nothing is recorded. */
  constructor(exporter: SpanRecorder | undefined, clock: Clock) {
    this.#exporter = exporter;
    this.#clock = clock;
  }

  /** Runs the work on the object `key` of a part, and records it. */
  async work(part: string, key: string, run: () => Promise<WorkOutcome>): Promise<WorkOutcome> {
    const exporter = this.#exporter;
    if (exporter === undefined) return run();
    const active: ActiveWork = { context: { traceId: newTraceId(), spanId: newSpanId(), sampled: true }, requests: 0 };
    const { now, date } = this.#clock;
    const startMs = date().getTime();
    const began = now();
    const record = (outcome: string, failure: string | undefined): void => {
      if (active.requests === 0 && failure === undefined) return;
      const attributes = { "plexus.part": part, "plexus.object": key, "plexus.outcome": outcome };
      const endMs = startMs + now() - began;
      const { context } = active;
      exporter.record({
        context,
        parentId: undefined,
        name: `reconcile ${part}`,
        kind: "internal",
        startMs,
        endMs,
        attributes,
        failure,
      });
    };
    try {
      const outcome = await this.#active.run(active, run);
      record(outcome.kind, outcome.kind === "failed" ? outcome.why : undefined);
      return outcome;
    } catch (error) {
      record("failed", error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  /** Records a request as a part of the work that sent it. A request outside of any work, such as for the Lease, has no span. */
  request({ method, path, ms, failure }: SentRequest): void {
    const active = this.#active.getStore();
    if (active === undefined) return;
    active.requests += 1;
    const endMs = this.#clock.date().getTime();
    this.#exporter?.record({
      context: { ...active.context, spanId: newSpanId() },
      parentId: active.context.spanId,
      name: method,
      kind: "client",
      startMs: endMs - ms,
      endMs,
      attributes: { "http.request.method": method, "url.path": path },
      failure,
    });
  }
}
