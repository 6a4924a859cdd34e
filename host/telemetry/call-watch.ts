// Observes one call for the daemon: metrics, log lines and spans. A log line names its call in fields, not in its text.

import { isVerb, type Verb, splitCniArgs } from "../../src/cni/environment.ts";
import { defaultLeaseDirectory } from "../../src/configuration/keys/grant-keys.ts";
import { catalogue, type FaultKind } from "../../src/fault/catalogue.ts";
import type { Fault } from "../../src/fault/fault.ts";
import { conflictText } from "../../src/net/conflict-text.ts";
import { harmlessMessage, inertLine } from "../../src/text/inert-text.ts";
import { type SpanContext, spanOf } from "../../src/trace/trace-context.ts";
import type {
  CallEnded,
  CallEvent,
  ChainEnded,
  ShadowEnded,
  StepEnded,
  StepRuled,
  Subscriber,
} from "../engine/events/call-events.ts";
import type { Request } from "../protocol/messages.ts";
import type { Clock } from "../system/clock.ts";
import { newSpanId, newTraceId } from "../system/ids.ts";
import type { DaemonLogLevel, Log, LogFields } from "./log.ts";
import type { Metrics } from "./metrics/metrics.ts";
import type { OngoingCall, RecentCalls } from "./recent-calls.ts";
import type { RecentFailures } from "./recent-failures.ts";
import type { ShadowCounts } from "./shadow-counts.ts";
import type { DescribedSpan, SpanExporter } from "./spans.ts";

/** The parts of telemetry in which a call is recorded. */
export interface CallWatchDeps {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly failures: RecentFailures;
  readonly shadows: ShadowCounts;
  readonly calls: RecentCalls;
  /** Undefined if no collector is configured. */
  readonly spans: SpanExporter | undefined;
  /** Receives the call's state directory, and the default lease directory of its delegates. */
  readonly addState: (directory: string, leases: string) => void;
}

/** The fields that name a call. */
type Identity = LogFields & { readonly request: string; readonly verb: string };

/** Maximum length of a name in a record, in UTF-16 units. */
const maxName = 253;

/** Verbs that runtimes send regularly as a probe: logged only at level debug, and without a trace of their own. */
const probes: ReadonlySet<string> = new Set(["STATUS", "VERSION"]);

/** The observer of one call. */
export class CallWatch implements Subscriber {
  readonly span: SpanContext | undefined;
  readonly #deps: CallWatchDeps;
  readonly #verb: Verb | "other";
  readonly #environment: Request["environment"];
  readonly #parent: SpanContext | undefined;
  readonly #ongoing: OngoingCall;
  #identity: Identity | undefined;
  /** The last network whose attachment failed. */
  #failedNetwork: string | undefined;

  constructor(deps: CallWatchDeps, { environment }: Pick<Request, "environment">) {
    this.#deps = deps;
    this.#environment = environment;
    const verb = environment.get("CNI_COMMAND") ?? "";
    this.#verb = isVerb(verb) ? verb : "other";
    this.#parent = spanOf(environment);
    // The runtime's sampling decision counts. A call without trace context begins a trace.
    if (deps.spans !== undefined && (this.#parent?.sampled ?? !probes.has(this.#verb))) {
      this.span = { traceId: this.#parent?.traceId ?? newTraceId(), spanId: newSpanId(), sampled: true };
    }
    this.#ongoing = deps.calls.begin(() => {
      const { request, verb: called, pod = "", container = "", ifname = "" } = this.#call;
      return { request, verb: called, pod, container, ifname };
    });
  }

  /** Computed for the first log line. A successful call has only one, which is written after the runtime has its answer. */
  get #call(): Identity {
    return (this.#identity ??= this.#identify());
  }

  #identify(): Identity {
    const value = (name: string): string => inertLine(this.#environment.get(name) ?? "", maxName);
    return {
      request: this.span?.spanId ?? newSpanId(),
      trace: this.span?.traceId ?? this.#parent?.traceId,
      verb: this.#verb,
      pod: podOf(this.#environment.get("CNI_ARGS") ?? ""),
      container: value("CNI_CONTAINERID") || undefined,
      ifname: value("CNI_IFNAME") || undefined,
    };
  }

  readonly receive = (event: CallEvent): void => {
    switch (event.what) {
      case "step-ended":
        return this.#step(event);
      case "step-retried":
      case "step-passed-over":
        return this.#rule(event);
      case "address-conflict":
        this.#deps.metrics.add("plexus_address_conflicts_total", { network: event.network });
        return this.#deps.log.write("warn", { ...this.#call, network: event.network }, conflictText(event));
      case "shadow-ended":
        return this.#shadow(event);
      case "chain-ended":
        return this.#chain(event);
      case "warned":
        return this.#deps.log.write("warn", this.#call, event.text.trimEnd());
      case "component-logged":
        return this.#component(event.line);
      case "plugin-printed": {
        const fields = { ...this.#call, step: event.type, ...(event.ifname === "" ? {} : { ifname: event.ifname }) };
        return this.#deps.log.write("info", fields, event.line.trimEnd());
      }
      case "call-ended":
        return this.#end(event);
      default:
    }
  };

  #step({ step, ms, outcome, span }: StepEnded): void {
    const { metrics, log } = this.#deps;
    const { verb, kind, network, type, ifname, nested } = step;
    this.#ongoing.step(step, ms, outcome);
    metrics.observe("plexus_step_duration_seconds", { verb, kind, network, type }, ms / 1000);
    if (!outcome.ok) {
      const fault = outcome.fault.kind;
      metrics.add("plexus_step_failures_total", { verb, kind, fault, network, type });
      if (fault.startsWith("LIMIT_")) metrics.add("plexus_limit_verdicts_total", { limit: fault, type });
    }
    const level = outcome.ok ? "debug" : "warn";
    if (log.has(level)) {
      const fields = { ...this.#call, verb, ifname, network, step: type, kind, ...(nested ? { nested } : {}), ms: rounded(ms) };
      if (outcome.ok) log.write(level, fields, `${type} done`);
      else log.write(level, { ...fields, ...faultFields(outcome.fault) }, outcome.fault.msg);
    }
    if (span === undefined || this.span === undefined) return;
    this.#record({
      context: span.context,
      parentId: span.parentId,
      name: `${verb} ${type}`,
      kind: kind === "native" ? "client" : "internal",
      ms,
      failure: outcome.ok ? undefined : outcome.fault,
      attributes: { "cni.network": network, "cni.ifname": ifname, "plexus.step.type": type, "plexus.step.kind": kind },
    });
  }

  #rule({ what, step, network, fault }: StepRuled): void {
    const name = what === "step-retried" ? "plexus_step_retries_total" : "plexus_steps_passed_over_total";
    this.#deps.metrics.add(name, { verb: step.verb, fault: fault.kind, network, type: step.plugin.type });
  }

  #shadow({ network, report: { verb, type, shadow, outcome }, text }: ShadowEnded): void {
    const { metrics, shadows } = this.#deps;
    metrics.add("plexus_shadow_runs_total", { verb, network, type, shadow, outcome });
    if (outcome === "mismatch") metrics.add("plexus_shadow_mismatch_total", { verb, network, type, shadow });
    shadows.note({ type, shadow, outcome, text });
  }

  #chain({ verb, network, ms, fault }: ChainEnded): void {
    const { metrics } = this.#deps;
    metrics.observe("plexus_attachment_duration_seconds", { verb, network }, ms / 1000);
    if (fault === undefined) return;
    this.#failedNetwork = network;
    metrics.add("plexus_attachment_failures_total", { verb, network, fault: fault.kind });
  }

  #component(line: string): void {
    const named = /^[^:]*: (debug|info|warn|error): /.exec(line)?.[1];
    this.#deps.log.write(levels.find((level) => level === named) ?? "info", this.#call, line.trimEnd());
  }

  #end({ ms, fault, configuration }: CallEnded): void {
    const { metrics, log, failures, addState } = this.#deps;
    const verb = this.#verb;
    const network = configuration?.name;
    this.#ongoing.end({ network, ms, fault, keep: fault !== undefined || !probes.has(verb) });
    if (configuration !== undefined) addState(configuration.cniDir, leaseDirectoryOf(configuration));
    metrics.add("plexus_calls_total", { verb, outcome: fault === undefined ? "done" : "failed" });
    metrics.observe("plexus_call_duration_seconds", { verb }, ms / 1000);
    const failedNetwork = this.#failedNetwork ?? network;
    const fields = { ...this.#call, network: failedNetwork, ms: rounded(ms) };
    if (fault === undefined) log.write(probes.has(verb) ? "debug" : "info", fields, `${verb} done`);
    else {
      metrics.add("plexus_call_failures_total", { verb, fault: fault.kind });
      log.write("error", { ...fields, ...faultFields(fault) }, fault.msg);
      failures.note({
        time: this.#deps.clock.date().toISOString(),
        request: this.#call.request,
        verb,
        pod: this.#call.pod ?? "",
        container: this.#call.container ?? "",
        network: inertLine(failedNetwork ?? "", maxName),
        fault: fault.kind,
        code: fault.code,
        msg: harmlessMessage(fault.msg),
      });
    }
    if (this.span === undefined) return;
    this.#record({
      context: this.span,
      parentId: this.#parent?.spanId,
      name: `CNI ${verb}`,
      kind: "server",
      ms,
      failure: fault,
      attributes: { "cni.network": network },
    });
  }

  #record({ ms, failure, attributes, ...span }: Recorded): void {
    const endMs = this.#deps.clock.date().getTime();
    const { pod, container, ifname, request, verb } = this.#call;
    const [namespace, name] = pod?.split("/") ?? [];
    this.#deps.spans?.record({
      ...span,
      name: harmlessMessage(span.name),
      startMs: endMs - ms,
      endMs,
      attributes: {
        "cni.command": verb,
        "container.id": container,
        "cni.ifname": ifname,
        "k8s.namespace.name": namespace,
        "k8s.pod.name": name,
        "plexus.request": request,
        ...attributes,
        ...(failure === undefined ? {} : { "error.type": failure.kind, "cni.error.code": failure.code }),
      },
      failure: failure === undefined ? undefined : harmlessMessage(failure.msg),
    });
  }
}

interface Recorded extends DescribedSpan {
  readonly ms: number;
  readonly failure: Fault | undefined;
}

/** The directory of ipam-host-local's leases if a network's configuration names none. */
function leaseDirectoryOf({ wasm }: NonNullable<CallEnded["configuration"]>): string {
  const grants = Object.hasOwn(wasm.grants, "ipam-host-local") ? wasm.grants["ipam-host-local"] : undefined;
  return (grants ?? wasm.otherGrants).leases?.directories?.[0] ?? defaultLeaseDirectory;
}

const levels: readonly DaemonLogLevel[] = ["debug", "info", "warn", "error"];

/** `namespace/name` from CNI_ARGS. Nothing else of CNI_ARGS is recorded, because it may contain secrets. */
function podOf(args: string): string | undefined {
  const known = new Map(splitCniArgs(args));
  const [namespace, name] = ["K8S_POD_NAMESPACE", "K8S_POD_NAME"].map((key) => inertLine(known.get(key) ?? "", maxName));
  return namespace === undefined || namespace === "" || name === "" ? undefined : `${namespace}/${name}`;
}

function faultFields({ kind, code }: Fault): { readonly fault: FaultKind; readonly code: number } {
  return { fault: Object.hasOwn(catalogue, kind) ? kind : "INTERNAL", code };
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
