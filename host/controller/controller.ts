// plexus-controller: takes part in the election, and runs its parts while it leads.

import type { IncomingMessage, Server } from "node:http";
import { setTimeout } from "node:timers/promises";
import { EventQueue } from "../cluster/events/event-queue.ts";
import type { ApiObjects } from "../cluster/kube/api-objects.ts";
import type { Clock } from "../system/clock.ts";
import type { DaemonLogLevel } from "../telemetry/log.ts";
import { type ControllerMetricDefinitions, controllerMetricDefinitions } from "../telemetry/metrics/controller-definitions.ts";
import type { MetricDefinitions } from "../telemetry/metrics/definitions.ts";
import { expositionType, MetricsOf } from "../telemetry/metrics/metrics.ts";
import { listenOnTcp, type Page, pageServer, plainText } from "../telemetry/page-server.ts";
import { type Collector, countSpans, SpanExporter } from "../telemetry/spans.ts";
import { Elector } from "./election/elector.ts";
import type { MakePart, PartContext } from "./part.ts";
import { WorkSpans } from "./work/work-spans.ts";

/** Settings of the controller. */
export interface ControllerInit {
  readonly objects: ApiObjects;
  readonly lease: { readonly namespace: string; readonly name: string; readonly seconds: number };
  readonly clock: Clock;
  /** This replica, unique among all processes that ever ran. */
  readonly identity: string;
  readonly version: string;
  readonly parts: readonly MakePart[];
  /** The metrics of all features' parts. */
  readonly partMetrics: MetricDefinitions;
  /** The receiver of spans; undefined: none. */
  readonly collector: Collector | undefined;
  /** Undefined: no pages. */
  readonly listen: { readonly host: string; readonly port: number } | undefined;
  readonly log: (level: DaemonLogLevel, text: string) => void;
}

/** Time for the last spans at the end, in ms. */
const flushMs = 2_000;
/** Time for the last Events at the end, in ms. */
const lastEventsMs = 2_000;

/** One replica. */
export class Controller {
  readonly spans: WorkSpans;
  readonly #init: ControllerInit;
  readonly #server: Server;
  readonly #exporter: SpanExporter | undefined;
  readonly #stopped = new AbortController();
  /** Outlives a term: an Event is true, whoever leads when it is sent. */
  readonly #events: EventQueue;
  /** Begun anew after each term: a replica that waits for the lease has no values of pools and ports. */
  #metrics: MetricsOf<ControllerMetricDefinitions>;
  #leads = false;
  #lastApiProblem: string | undefined = "no answer of the API server yet";

  constructor(init: ControllerInit) {
    this.#init = init;
    const { collector, objects, clock } = init;
    this.#events = new EventQueue({
      objects,
      clock,
      warn: (text) => init.log("warn", text),
      ended: (outcome) => this.metrics.add("plexus_events_total", { outcome }),
    });
    const onSpans = countSpans(
      () => init.clock.now(),
      (outcome, spans) => this.metrics.add("plexus_spans_total", { outcome }, spans),
      (text) => init.log("warn", text),
    );
    this.#exporter = collector && new SpanExporter(collector, onSpans);
    this.spans = new WorkSpans(this.#exporter, init.clock);
    this.#server = pageServer((request) => this.#page(request));
    this.#metrics = this.#newMetrics();
  }

  /** The metrics of the process since the last term's end, and of the current term. */
  get metrics(): MetricsOf<ControllerMetricDefinitions> {
    return this.#metrics;
  }

  /** Listens for scrapes; answers the TCP port, or undefined without one. Rejects with the error of listen(2). */
  async listen(): Promise<number | undefined> {
    return this.#init.listen && listenOnTcp(this.#server, this.#init.listen);
  }

  /** Runs until `stop`. */
  async run(): Promise<void> {
    const { objects, lease, identity, log } = this.#init;
    const elector = new Elector({
      clock: this.#init.clock,
      objects,
      namespace: lease.namespace,
      name: lease.name,
      leaseSeconds: lease.seconds,
      identity,
      warn: (text) => log("warn", text),
      onLook: (problem) => (this.#lastApiProblem = problem),
      onChange: (leads) => {
        this.#leads = leads;
        if (!leads) this.#metrics = this.#newMetrics();
        this.metrics.set("plexus_controller_leader", {}, Number(leads));
        log("info", leads ? `${identity} leads` : `${identity} does not lead any more`);
      },
    });
    await elector.run(async (signal) => {
      const context = this.#newContext();
      const parts = this.#init.parts.map((make) => make(context));
      await Promise.all([aborted(signal), ...parts.map((part) => part.run(signal))]);
    }, this.#stopped.signal);
    this.#server.close();
    this.#server.closeAllConnections();
    await this.#events.stop(lastEventsMs);
    objects.close();
    await Promise.race([this.#exporter?.flush(), setTimeout(flushMs, undefined, { ref: false })]);
  }

  /** Ends the work under way and gives the lease back; `run` then resolves. */
  stop(): void {
    this.#stopped.abort();
  }

  #newMetrics(): MetricsOf<ControllerMetricDefinitions> {
    const metrics = new MetricsOf(controllerMetricDefinitions);
    metrics.with(this.#init.partMetrics);
    metrics.set("plexus_controller_build_info", { version: this.#init.version }, 1);
    metrics.set("plexus_controller_leader", {}, 0);
    metrics.onScrape(() => {
      const { user, system } = process.cpuUsage();
      metrics.set("plexus_events_waiting", {}, this.#events.waiting);
      metrics.set("process_cpu_seconds_total", {}, (user + system) / 1e6);
      metrics.set("process_resident_memory_bytes", {}, process.memoryUsage.rss());
    });
    return metrics;
  }

  /** The means of the parts, for one term. */
  #newContext(): PartContext {
    const { objects, clock, log, lease } = this.#init;
    return {
      objects,
      clock,
      metrics: this.metrics,
      spans: this.spans,
      log,
      lease,
      event: (target, content) => this.#events.add(target, content, clock.date()),
    };
  }

  async #page({ method, url }: IncomingMessage): Promise<Page> {
    if (method !== "GET" && method !== "HEAD") return { status: 405, type: plainText, body: "allowed methods: GET and HEAD\n" };
    if (url === "/metrics") return { status: 200, type: expositionType, body: await this.metrics.text() };
    if (url === "/healthz") return { status: 200, type: plainText, body: "ok\n" };
    if (url === "/readyz") {
      const problem = this.#lastApiProblem;
      const role = this.#leads ? "leads" : "waits for the lease";
      return { status: problem === undefined ? 200 : 503, type: plainText, body: `${role}; API: ${problem ?? "answers"}\n` };
    }
    return { status: 404, type: plainText, body: "pages: /metrics, /healthz, /readyz\n" };
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
