// The daemon's telemetry: metrics, log, spans, readiness and status. The daemon's parts record through this class.

import { resolve } from "node:path";
import { defaultLeaseDirectory } from "../../src/configuration/keys/grant-keys.ts";
import type { Subscriber } from "../engine/events/call-events.ts";
import type { Request } from "../protocol/messages.ts";
import type { Metrics } from "./metrics/metrics.ts";
import { NodeStateReader } from "../node/state/node-state-reader.ts";
import type { PoolCounts } from "../sandbox/process/pool-settings.ts";
import { CallWatch } from "./call-watch.ts";
import type { Log } from "./log.ts";
import { LoopDelay } from "./loop-delay.ts";
import { collectProcess } from "./process-metrics.ts";
import { type ReadinessDeps, readiness } from "./readiness.ts";
import type { Readiness } from "./status-document.ts";
import { RecentCalls } from "./recent-calls.ts";
import { RecentFailures } from "./recent-failures.ts";
import { collectIsolation, isolationSentence, missingControls, type SandboxIsolation } from "./sandbox-isolation.ts";
import { ShadowCounts } from "./shadow-counts.ts";
import { type Collector, countSpans, SpanExporter } from "./spans.ts";
import type { DaemonStatus, StatusDocument } from "./status-document.ts";
import type { Clock } from "../system/clock.ts";

/** The settings of the daemon's telemetry. */
export interface TelemetrySettings {
  readonly log: Log;
  readonly version: string;
  /** The state directory that is observed before the first call. */
  readonly stateDirectory: string;
  /** Undefined: no spans are recorded. */
  readonly collector: Collector | undefined;
}

/** The parts of the daemon that telemetry reads. */
export interface Observed {
  readonly metrics: Metrics;
  readonly socket: string;
  readonly listening: () => boolean;
  readonly queue: () => DaemonStatus["queue"];
  readonly sandboxes: () => PoolCounts;
  readonly isolation: () => SandboxIsolation;
  /** Tries again to start sandbox processes. */
  readonly warmUp: () => void;
  /** Number of connected agents. */
  readonly agents: () => number;
  /** The readiness check of the network configuration that the daemon writes; undefined if the daemon writes none. */
  readonly configuration: ReadinessDeps["configuration"];
}

/** Maximum state directories. Each configuration names one, and a node has few configurations. */
const maxStates = 8;

/** The telemetry of one daemon. */
export class Telemetry {
  readonly #clock: Clock;
  readonly #settings: TelemetrySettings;
  readonly #observed: Observed;
  readonly #loop: LoopDelay;
  readonly #failures = new RecentFailures();
  readonly #shadows = new ShadowCounts();
  readonly #calls: RecentCalls;
  /** The start of the process. */
  readonly #since: Date;
  readonly #spans: SpanExporter | undefined;
  readonly #states = new Map<string, NodeStateReader>();
  readonly #information = new Map<string, () => string>();

  constructor(clock: Clock, settings: TelemetrySettings, observed: Observed) {
    this.#clock = clock;
    this.#settings = settings;
    this.#observed = observed;
    const { metrics } = observed;
    this.#calls = new RecentCalls(clock);
    this.#since = new Date(clock.date().getTime() - process.uptime() * 1000);
    const onSpans = countSpans(
      clock.now,
      (outcome, spans) => metrics.add("plexus_spans_total", { outcome }, spans),
      (text) => this.warn(text),
    );
    this.#spans = settings.collector && new SpanExporter(settings.collector, onSpans);
    this.#addState(settings.stateDirectory, defaultLeaseDirectory);
    metrics.set("plexus_build_info", { version: settings.version }, 1);
    metrics.add("plexus_queue_refused_total", {}, 0);
    this.#loop = new LoopDelay(() => observed.queue().active > 0, clock.now);
    collectProcess(metrics, this.#loop, this.#since);
    this.inform("isolation", () => isolationSentence(observed.isolation()));
    metrics.onScrape(() => this.#collectParts());
    metrics.onScrape(() => this.#collectState());
    metrics.onScrape(async () => metrics.set("plexus_ready", {}, (await this.readiness()).ready ? 1 : 0));
  }

  /** Begins to observe a call. */
  observe(request: Request): Subscriber {
    const { metrics } = this.#observed;
    this.#loop.watch();
    const addState = (directory: string, leases: string): void => this.#addState(directory, leases);
    const [failures, calls, shadows] = [this.#failures, this.#calls, this.#shadows];
    const [clock, log] = [this.#clock, this.#settings.log];
    return new CallWatch({ clock, metrics, log, failures, calls, shadows, spans: this.#spans, addState }, request);
  }

  /** Records how many milliseconds a call waited in the queue; undefined: the call was refused. */
  waited(ms: number | undefined): void {
    const { metrics } = this.#observed;
    if (ms === undefined) metrics.add("plexus_queue_refused_total", {});
    else metrics.observe("plexus_queue_wait_seconds", {}, ms / 1000);
  }

  /** Logs a message that belongs to no call. */
  log(level: "info" | "warn", text: string): void {
    this.#settings.log.write(level, {}, text);
  }

  /** Logs a warning that belongs to no call. */
  warn(text: string): void {
    this.log("warn", text);
  }

  /** Adds a line to the status document under this name; `read` makes it each time. */
  inform(name: string, read: () => string): void {
    this.#information.set(name, read);
  }

  /** Runs the readiness checks. */
  readiness(): Promise<Readiness> {
    const { socket, listening, sandboxes, isolation, warmUp, configuration } = this.#observed;
    const { idle, busy, starting } = sandboxes();
    // Without this, a node whose sandbox processes failed to start (out of memory, for example) would stay unready until a delegate runs.
    if (idle + busy + starting === 0) warmUp();
    return readiness({
      socket,
      listening,
      sandboxes: () => {
        const counts = sandboxes();
        return { running: counts.idle + counts.busy, starting: counts.starting, problem: isolation().problem };
      },
      stateDirectories: () => this.stateDirectories,
      configuration,
    });
  }

  /** The state directories that calls have named, and the daemon's own. */
  get stateDirectories(): readonly string[] {
    return [...this.#states.keys()];
  }

  /** Makes the status document. */
  async status(): Promise<StatusDocument> {
    const { idle, busy, starting, ended } = this.#observed.sandboxes();
    const isolation = this.#observed.isolation();
    const [ready, ...nodes] = await Promise.all([this.readiness(), ...this.#readers().map((reader) => reader.read())]);
    return {
      apiVersion: "plexus/v1",
      kind: "NodeStatus",
      time: this.#clock.date().toISOString(),
      daemon: {
        version: this.#settings.version,
        pid: process.pid,
        since: this.#since.toISOString(),
        socket: this.#observed.socket,
        ...ready,
        queue: this.#observed.queue(),
        sandboxes: { idle, busy, starting, restarts: ended },
        isolation: { level: isolation.level, missing: missingControls(isolation) },
        information: {
          ...Object.fromEntries([...this.#information].map(([name, read]) => [name, read()])),
          ...(this.#shadows.isEmpty ? {} : { shadows: this.#shadows.text() }),
        },
      },
      nodes,
      failures: this.#failures.list(),
    };
  }

  /** The last calls with their steps: a RecentCallsDocument as JSON. */
  recentCalls(): string {
    return this.#calls.text();
  }

  /** Sends the waiting spans; gives up after `ms`. */
  async close(ms: number): Promise<void> {
    if (this.#spans === undefined) return;
    const { promise, resolve: late } = Promise.withResolvers<void>();
    const timer = setTimeout(late, ms);
    await Promise.race([this.#spans.flush(), promise]);
    clearTimeout(timer);
  }

  #readers(): readonly NodeStateReader[] {
    return [...this.#states.values()];
  }

  /** Adds a state directory, with the default lease directory of its delegates. */
  #addState(directory: string, leases: string): void {
    const path = resolve(directory);
    const known = this.#states.get(path);
    if (known !== undefined) known.leaseDirectory = leases;
    else if (this.#states.size < maxStates) this.#states.set(path, new NodeStateReader(path, leases, this.#clock));
  }

  #collectParts(): void {
    const { metrics, queue, sandboxes } = this.#observed;
    const { active, waiting, mostActive, mostWaiting } = queue();
    metrics.set("plexus_queue_calls", { state: "active" }, active);
    metrics.set("plexus_queue_calls", { state: "waiting" }, waiting);
    metrics.set("plexus_queue_bound_calls", { state: "active" }, mostActive);
    metrics.set("plexus_queue_bound_calls", { state: "waiting" }, mostWaiting);
    const counts = sandboxes();
    for (const state of ["idle", "busy", "starting"] as const) metrics.set("plexus_sandbox_processes", { state }, counts[state]);
    metrics.set("plexus_sandbox_waiting_calls", {}, counts.waiting);
    metrics.set("plexus_sandbox_starts_total", {}, counts.started);
    metrics.set("plexus_sandbox_restarts_total", {}, counts.ended);
    collectIsolation(metrics, this.#observed.isolation());
    metrics.set("plexus_agents", {}, this.#observed.agents());
  }

  async #collectState(): Promise<void> {
    const { metrics } = this.#observed;
    const nodes = await Promise.all(this.#readers().map((reader) => reader.read()));
    const sum = (of: "entries" | "bytes", state: "journal" | "abandoned"): number =>
      nodes.reduce((total, node) => total + node[state][of], 0);
    for (const [state, key] of [
      ["kept", "journal"],
      ["abandoned", "abandoned"],
    ] as const) {
      metrics.set("plexus_journal_entries", { state }, sum("entries", key));
      metrics.set("plexus_journal_size_bytes", { state }, sum("bytes", key));
    }
    const pools = new Map(nodes.flatMap((node) => node.pools).map((pool) => [pool.directory, pool]));
    metrics.replace(
      "plexus_leases_used",
      [...pools.values()].map(({ directory, used }) => ({ labels: { pool: directory }, value: used })),
    );
    metrics.replace(
      "plexus_leases_size",
      [...pools.values()].flatMap(({ directory, size }) =>
        size === undefined ? [] : [{ labels: { pool: directory }, value: size }],
      ),
    );
    const problems = nodes.reduce((total, node) => total + node.problems.length, 0);
    if (problems > 0) metrics.add("plexus_scrape_problems_total", {}, problems);
  }
}
