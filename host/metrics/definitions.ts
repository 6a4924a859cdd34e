// Every metric of the daemon: its name, what it says, its labels and what may stand in them. docs/reference/metrics.md has a row for
// each; a test holds both together.

import { VERBS } from "../../src/cni/environment.ts";
import { catalogue } from "../../src/fault/catalogue.ts";
import { findingKinds, handlings } from "../reconcile/finding.ts";

/** The values that a label can have; `open`: others choose them (a definition's name, say), so their number is bounded. */
export type LabelValues = readonly string[] | "open";

export interface MetricDefinition {
  readonly type: "counter" | "gauge" | "histogram";
  /** One sentence. */
  readonly help: string;
  readonly labels: Readonly<Record<string, LabelValues>>;
  /** Upper bounds of a histogram's buckets, rising; +Inf is added. */
  readonly buckets?: readonly number[];
}

const verb = VERBS;
const fault = Object.keys(catalogue);
const kind = ["native", "wasm"];
const watched = ["pods", "definitions"];

/** Seconds: from the time of a warm WASM step to the longest that kubelet waits. */
const seconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 240];

const counter = <L extends MetricDefinition["labels"]>(help: string, labels: L) => ({ type: "counter", help, labels }) as const;
const gauge = <L extends MetricDefinition["labels"]>(help: string, labels: L) => ({ type: "gauge", help, labels }) as const;
const duration = <L extends MetricDefinition["labels"]>(help: string, labels: L) =>
  ({ type: "histogram", help, labels, buckets: seconds }) as const;

/** By name. A name ends with its unit, a counter's with `_total` (Prometheus' rules for names). */
export const metricDefinitions = {
  plexus_build_info: gauge("Always 1; the label says which version runs.", { version: "open" }),
  plexus_ready: gauge("Whether the daemon is ready: 1 or 0, as /readyz answers.", {}),

  plexus_calls_total: counter("Calls of the runtime that were answered.", { verb, outcome: ["done", "failed"] }),
  plexus_call_duration_seconds: duration("From a call's request to its reply, without its wait in the queue.", { verb }),
  plexus_call_failures_total: counter("Calls that failed, by the catalogue's kind of fault.", { verb, fault }),
  plexus_attachment_duration_seconds: duration("The chain of one network for one pod, from its first step to its last.", {
    verb,
    network: "open",
  }),
  plexus_attachment_failures_total: counter("Chains that failed, by the catalogue's kind of fault.", {
    verb,
    fault,
    network: "open",
  }),
  plexus_step_duration_seconds: duration("One plugin of a chain, native or WASM, nested ones too.", {
    verb,
    kind,
    network: "open",
    type: "open",
  }),
  plexus_step_failures_total: counter("Steps that failed, by the catalogue's kind of fault.", {
    verb,
    kind,
    fault,
    network: "open",
    type: "open",
  }),
  plexus_limit_verdicts_total: counter("Delegates that were stopped at one of their limits.", {
    limit: fault.filter((name) => name.startsWith("LIMIT_")),
    type: "open",
  }),

  plexus_queue_calls: gauge("Calls that are being served, and calls that wait for their turn.", { state: ["active", "waiting"] }),
  plexus_queue_bound_calls: gauge("As many may be served and wait: --calls and --queue.", { state: ["active", "waiting"] }),
  plexus_queue_wait_seconds: duration("How long calls waited for their turn.", {}),
  plexus_queue_refused_total: counter("Calls that were refused with code 11 because the queue was full.", {}),

  plexus_watch_live: gauge(
    "Whether what is held of the Kubernetes API is relied on: 1 or 0; without a series nothing is watched.",
    {
      collection: watched,
    },
  ),
  plexus_watch_objects: gauge("Objects of the Kubernetes API that are held.", { collection: watched }),
  plexus_watch_lists_total: counter("How often a collection was listed anew.", { collection: watched }),
  plexus_lookups_total: counter("Pods and definitions that calls needed, by who answered.", {
    collection: watched,
    answer: ["memory", "api"],
  }),

  plexus_sandbox_processes: gauge("Sandbox processes.", { state: ["idle", "busy", "starting"] }),
  plexus_sandbox_waiting_calls: gauge("Steps that wait for a sandbox process.", {}),
  plexus_sandbox_starts_total: counter("Sandbox processes that were started.", {}),
  plexus_sandbox_restarts_total: counter("Sandbox processes that ended or were ended while the daemon ran.", {}),

  plexus_resident_hands: gauge(
    'Processes "plexus hands" that are connected: without one the daemon can do nothing on its own.',
    {},
  ),

  plexus_leases_used: gauge("Addresses reserved in a pool, that is one directory of leases.", { pool: "open" }),
  plexus_leases_size: gauge("Addresses that a pool has by the configuration of its attachments.", { pool: "open" }),

  plexus_journal_entries: gauge("Entries of the journal, and entries whose DEL was given up.", {
    state: ["kept", "left_behind"],
  }),
  plexus_journal_size_bytes: gauge("Bytes of those entries' files.", { state: ["kept", "left_behind"] }),

  plexus_reconcile_rounds_total: counter("Rounds of the reconciler; `failed`: something could not be looked at.", {
    outcome: ["done", "failed"],
  }),
  plexus_reconcile_round_duration_seconds: duration("One round of the reconciler.", {}),
  plexus_reconcile_findings: gauge("What the last round found, by what it did about it.", {
    kind: findingKinds,
    handling: handlings,
  }),
  plexus_reconcile_cleaned_total: counter("What rounds took away.", { kind: findingKinds }),
  plexus_reconcile_failures_total: counter("What rounds tried in vain to take away.", { kind: findingKinds }),

  plexus_log_lines_dropped_total: counter("Lines of log that nobody took in time.", {}),
  plexus_spans_total: counter("Spans, by what became of them.", { outcome: ["sent", "dropped"] }),
  plexus_scrape_problems_total: counter("Values that could not be read for a scrape.", {}),

  plexus_event_loop_delay_seconds: gauge(
    "How late the event loop was since the last scrape while calls were served; 0 where there were none.",
    {
      quantile: ["0.5", "0.99", "1"],
    },
  ),
  process_resident_memory_bytes: gauge("Resident memory of the daemon, without its sandbox processes.", {}),
  process_cpu_seconds_total: counter("Processor time of the daemon, user and system.", {}),
  process_start_time_seconds: gauge("When the daemon started, in Unix time.", {}),
} as const satisfies Record<string, MetricDefinition>;

export type MetricName = keyof typeof metricDefinitions;

/** A value for each label of a metric. */
export type LabelsOf<N extends MetricName> = Readonly<Record<keyof (typeof metricDefinitions)[N]["labels"], string>>;

/** The names of the metrics of one type. */
export type NamesOf<T extends MetricDefinition["type"]> = {
  [N in MetricName]: (typeof metricDefinitions)[N]["type"] extends T ? N : never;
}[MetricName];
