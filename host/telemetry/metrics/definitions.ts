// All metrics of the daemon, with help text, labels and label values. docs/reference/metrics.md is generated from this file.

import { VERBS } from "../../../src/cni/environment.ts";
import { catalogue } from "../../../src/fault/catalogue.ts";
import { shadowOutcomes } from "../../../src/step-policy/shadow-report.ts";
import { controls } from "../../sandbox/launcher/controls.ts";
import { findingKinds, handlings } from "../../node/reconcile/finding.ts";

/** The values of a label. `open`: users choose the values (names of networks, for example), so the number of series is bounded. */
export type LabelValues = readonly string[] | "open";

/** One metric. */
export interface MetricDefinition {
  readonly type: "counter" | "gauge" | "histogram";
  /** One sentence for a person. */
  readonly help: string;
  readonly labels: Readonly<Record<string, LabelValues>>;
  /** Upper bounds of a histogram's buckets, rising. +Inf is added. */
  readonly buckets?: readonly number[];
}

const verb = VERBS;
const fault = Object.keys(catalogue);
const kind = ["native", "wasm"];
const watched = ["pods", "definitions", "networks"];

/** Bucket bounds in seconds: from the time of a fast WASM step to the longest time that kubelet waits. */
const seconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 240];

const counter = <L extends MetricDefinition["labels"]>(help: string, labels: L) => ({ type: "counter", help, labels }) as const;
const gauge = <L extends MetricDefinition["labels"]>(help: string, labels: L) => ({ type: "gauge", help, labels }) as const;
const duration = <L extends MetricDefinition["labels"]>(help: string, labels: L) =>
  ({ type: "histogram", help, labels, buckets: seconds }) as const;

/** The metrics by name. By Prometheus' rules a name ends with its unit, and a counter's name with `_total`. */
export const metricDefinitions = {
  plexus_build_info: gauge("Always 1; the label has the daemon's version.", { version: "open" }),
  plexus_ready: gauge("Whether the daemon is ready (1) or not (0), as /readyz answers.", {}),

  plexus_calls_total: counter("Calls of the runtime that were answered.", { verb, outcome: ["done", "failed"] }),
  plexus_call_duration_seconds: duration("Time from a call's request to its reply, without the wait in the queue.", { verb }),
  plexus_call_failures_total: counter("Failed calls, by fault kind.", { verb, fault }),
  plexus_attachment_duration_seconds: duration("Time of one network's chain for one pod, from its first step to its last.", {
    verb,
    network: "open",
  }),
  plexus_attachment_failures_total: counter("Failed chains, by fault kind.", {
    verb,
    fault,
    network: "open",
  }),
  plexus_step_duration_seconds: duration("Time of one step: a plugin of a chain, native or WASM, including nested calls.", {
    verb,
    kind,
    network: "open",
    type: "open",
  }),
  plexus_step_failures_total: counter("Failed steps, by fault kind.", {
    verb,
    kind,
    fault,
    network: "open",
    type: "open",
  }),
  plexus_step_retries_total: counter("Failed steps that were tried again (failure policy retry), by fault kind.", {
    verb,
    fault,
    network: "open",
    type: "open",
  }),
  plexus_steps_passed_over_total: counter("Failed steps that were passed over (failure policy open), by fault kind.", {
    verb,
    fault,
    network: "open",
    type: "open",
  }),
  plexus_address_conflicts_total: counter("Addresses that were given back because another host has them.", { network: "open" }),
  plexus_shadow_runs_total: counter("Runs of a shadow beside a native step, by outcome.", {
    verb,
    network: "open",
    type: "open",
    shadow: "open",
    outcome: shadowOutcomes,
  }),
  plexus_shadow_mismatch_total: counter(
    "Runs of a shadow whose answer differs from the native step's. The pod got the native one.",
    {
      verb,
      network: "open",
      type: "open",
      shadow: "open",
    },
  ),
  plexus_limit_verdicts_total: counter("Delegates that were stopped because they exceeded a limit.", {
    limit: fault.filter((name) => name.startsWith("LIMIT_")),
    type: "open",
  }),

  plexus_queue_calls: gauge("Calls that are served now, and calls that wait in the queue.", { state: ["active", "waiting"] }),
  plexus_queue_bound_calls: gauge("Maximum calls served at once (--calls) and waiting (--queue).", {
    state: ["active", "waiting"],
  }),
  plexus_queue_wait_seconds: duration("Time that calls waited in the queue.", {}),
  plexus_queue_refused_total: counter("Calls refused with code 11, because the queue was full.", {}),

  plexus_watch_live: gauge(
    "Whether calls use the watched objects in memory (1) or ask the API server meanwhile (0). No series: nothing is watched.",
    {
      collection: watched,
    },
  ),
  plexus_watch_objects: gauge("Watched objects of the Kubernetes API in memory.", { collection: watched }),
  plexus_watch_lists_total: counter("LIST requests for a watched collection.", { collection: watched }),
  plexus_lookups_total: counter("Pods, definitions and PodNetworks that calls needed, by source.", {
    collection: watched,
    answer: ["memory", "api"],
  }),

  plexus_events_total: counter("Kubernetes Events of the daemon that were sent, refused by the API server, or dropped.", {
    outcome: ["sent", "refused", "dropped"],
  }),
  plexus_events_waiting: gauge("Kubernetes Events of the daemon that wait for the API server.", {}),

  plexus_sandbox_processes: gauge("Sandbox processes, by state.", { state: ["idle", "busy", "starting"] }),
  plexus_sandbox_control: gauge(
    "Whether a control of the sandbox processes' jail holds (1) or is missing on this node (0). No series: no sandbox process has started.",
    { control: controls },
  ),
  plexus_sandbox_waiting_calls: gauge("Steps that wait for a sandbox process.", {}),
  plexus_sandbox_starts_total: counter("Started sandbox processes.", {}),
  plexus_sandbox_restarts_total: counter("Sandbox processes that ended or were killed while the daemon ran.", {}),

  plexus_cni_configuration_written: gauge(
    "Whether the network configuration that the daemon writes is in the runtime's directory (1) or not (0). No series: the daemon writes none.",
    {},
  ),
  plexus_cni_configuration_retired: gauge(
    "Whether Plexus is being removed from the node, so that new pods get the default network only (1) or not (0). No series: the daemon writes no network configuration.",
    {},
  ),
  plexus_cni_configuration_problem: gauge("Always 1; the label has the problem of that network configuration, by fault kind.", {
    fault,
  }),
  plexus_cni_configuration_foreign_steps: gauge(
    "Always 1; the label has the plugin type of a step that another program added to that file and that is kept.",
    {
      plugin: "open",
    },
  ),
  plexus_cni_configuration_writes_total: counter("Changes of the file of that network configuration.", {
    outcome: ["written", "removed", "failed"],
  }),
  plexus_node_credentials_expiry_timestamp_seconds: gauge(
    "End of the token for one-shot engines, in Unix time. No series: this daemon has written none.",
    {},
  ),
  plexus_node_credentials_renewals_total: counter("Requests for a token for one-shot engines.", {
    outcome: ["renewed", "failed"],
  }),

  plexus_agents: gauge('Connected processes "plexus agent". Without one the daemon cannot remove stale attachments.', {}),

  plexus_leases_used: gauge("Reserved addresses of a pool, that is of one directory of leases.", { pool: "open" }),
  plexus_leases_size: gauge("Size of a pool in addresses, by the configuration of its attachments.", { pool: "open" }),

  plexus_journal_entries: gauge("Journal entries, and records of abandoned attachments.", {
    state: ["kept", "abandoned"],
  }),
  plexus_journal_size_bytes: gauge("Size of these entries' files.", { state: ["kept", "abandoned"] }),

  plexus_reconcile_rounds_total: counter(
    "Reconciler rounds. `failed`: the round had a problem, such as an unreadable directory.",
    {
      outcome: ["done", "failed"],
    },
  ),
  plexus_reconcile_round_duration_seconds: duration("Time of one reconciler round.", {}),
  plexus_reconcile_findings: gauge("Findings of the last round, by kind and handling.", {
    kind: findingKinds,
    handling: handlings,
  }),
  plexus_reconcile_cleaned_total: counter("Findings that rounds removed.", { kind: findingKinds }),
  plexus_reconcile_failures_total: counter("Findings that rounds failed to remove.", { kind: findingKinds }),

  plexus_log_lines_dropped_total: counter("Log lines that were dropped, because the reader of stderr was too slow.", {}),
  plexus_spans_total: counter("Spans that were sent to the collector, or dropped.", { outcome: ["sent", "dropped"] }),
  plexus_scrape_problems_total: counter("Values that a scrape could not read.", {}),

  plexus_event_loop_delay_seconds: gauge(
    "Delay of the event loop since the last scrape, while calls were served; 0 without calls.",
    {
      quantile: ["0.5", "0.99", "1"],
    },
  ),
  process_resident_memory_bytes: gauge("Resident memory of the daemon, without its sandbox processes.", {}),
  process_cpu_seconds_total: counter("Processor time of the daemon, user and system.", {}),
  process_start_time_seconds: gauge("Start of the daemon, in Unix time.", {}),
} as const satisfies Record<string, MetricDefinition>;

/** The metrics of one program, by name. */
export type MetricDefinitions = Readonly<Record<string, MetricDefinition>>;

/** A value for each label of a metric. */
export type LabelsOf<D extends MetricDefinitions, N extends keyof D> = Readonly<Record<keyof D[N]["labels"], string>>;

/** The names of the metrics of one type. */
export type NamesOf<D extends MetricDefinitions, T extends MetricDefinition["type"]> = {
  [N in keyof D]: D[N]["type"] extends T ? N : never;
}[keyof D] &
  string;
