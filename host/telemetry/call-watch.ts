// Watches one call for the daemon: counts, writes lines, records spans. All that a line has to do with a call it says by fields.

import { defaultLeaseDirectory } from "../../src/configuration/wasm-configuration.ts";
import { isVerb, type Verb } from "../../src/cni/environment.ts";
import { catalogue, type FaultKind } from "../../src/fault/catalogue.ts";
import type { Fault } from "../../src/fault/fault.ts";
import { type SpanContext, spanOf } from "../../src/trace/trace-context.ts";
import type { CallEnd, CallObserver, Span, TracedStep } from "../brain/call-observer.ts";
import { callArgs } from "../brain/pod-identity.ts";
import { newSpanId, newTraceId } from "../brain/span-id.ts";
import type { StepOutcome } from "../../src/cni/chain-step.ts";
import type { Request } from "../hands/messages.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { inertLine } from "../sandbox/inert-text.ts";
import { harmlessMessage } from "./harmless.ts";
import { type DaemonLogLevel, type Log, type LogFields } from "./log.ts";
import type { RecentFailures } from "./recent-failures.ts";
import type { FinishedSpan, SpanExporter } from "./spans.ts";

export interface CallWatchDeps {
  readonly metrics: Metrics;
  readonly log: Log;
  readonly failures: RecentFailures;
  /** Undefined where no collector is configured. */
  readonly spans: SpanExporter | undefined;
  /** Hears where journals are, and leases of delegates that name no directory. */
  readonly sawState: (directory: string, leases: string) => void;
}

/** What every line says of its call. */
type Identity = LogFields & { readonly request: string };

/** Characters of a name that others chose, where it stands in a record. */
const longestName = 253;

/** Calls that runtimes make all the time, to see whether we are there. */
const frequent: ReadonlySet<string> = new Set(["STATUS", "VERSION"]);

export class CallWatch implements CallObserver {
  readonly span: SpanContext | undefined;
  readonly #deps: CallWatchDeps;
  readonly #verb: Verb | "other";
  readonly #environment: Request["environment"];
  readonly #parent: SpanContext | undefined;
  #identity: Identity | undefined;
  /** The last network that failed. */
  #failed: string | undefined;

  constructor(deps: CallWatchDeps, { environment }: Pick<Request, "environment">) {
    this.#deps = deps;
    this.#environment = environment;
    const verb = environment.get("CNI_COMMAND") ?? "";
    this.#verb = isVerb(verb) ? verb : "other";
    this.#parent = spanOf(environment);
    // What nobody above records is not recorded here; what nobody began is begun here.
    if (deps.spans !== undefined && (this.#parent?.sampled ?? !frequent.has(this.#verb))) {
      this.span = { traceId: this.#parent?.traceId ?? newTraceId(), spanId: newSpanId(), sampled: true };
    }
  }

  /** Worked out with the first line: of a call that goes well the only one, written when the runtime has its answer. */
  get #who(): Identity {
    return (this.#identity ??= this.#identify());
  }

  #identify(): Identity {
    const value = (name: string): string => inertLine(this.#environment.get(name) ?? "", longestName);
    return {
      request: this.span?.spanId ?? newSpanId(),
      trace: this.span?.traceId ?? this.#parent?.traceId,
      verb: this.#verb,
      pod: podOf(this.#environment.get("CNI_ARGS") ?? ""),
      container: value("CNI_CONTAINERID") || undefined,
      ifname: value("CNI_IFNAME") || undefined,
    };
  }

  step(step: TracedStep, ms: number, outcome: StepOutcome, span: Span | undefined): void {
    const { metrics, log } = this.#deps;
    const { verb, kind, network, type, ifname, nested } = step;
    metrics.observe("plexus_step_duration_seconds", { verb, kind, network, type }, ms / 1000);
    if (!outcome.ok) {
      const fault = outcome.fault.kind;
      metrics.add("plexus_step_failures_total", { verb, kind, fault, network, type });
      if (fault.startsWith("LIMIT_")) metrics.add("plexus_limit_verdicts_total", { limit: fault, type });
    }
    const level = outcome.ok ? "debug" : "warn";
    if (log.has(level)) {
      const fields = { ...this.#who, verb, ifname, network, step: type, kind, ...(nested ? { nested } : {}), ms: rounded(ms) };
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

  attachment({ verb, network }: Pick<TracedStep, "verb" | "network" | "ifname">, ms: number, fault: Fault | undefined): void {
    const { metrics } = this.#deps;
    metrics.observe("plexus_attachment_duration_seconds", { verb, network }, ms / 1000);
    if (fault === undefined) return;
    this.#failed = network;
    metrics.add("plexus_attachment_failures_total", { verb, network, fault: fault.kind });
  }

  line(from: "plexus" | "delegate", text: string): void {
    const said = from === "delegate" ? /^[^:]*: (debug|info|warn|error): /.exec(text)?.[1] : undefined;
    const level = levels.find((each) => each === said) ?? (from === "plexus" ? "warn" : "info");
    this.#deps.log.write(level, this.#who, text.trimEnd());
  }

  end({ ms, fault, configuration }: CallEnd): void {
    const { metrics, log, failures, sawState } = this.#deps;
    const verb = this.#verb;
    const network = configuration?.name;
    if (configuration !== undefined) sawState(configuration.cniDir, leaseDirectoryOf(configuration));
    metrics.add("plexus_calls_total", { verb, outcome: fault === undefined ? "done" : "failed" });
    metrics.observe("plexus_call_duration_seconds", { verb }, ms / 1000);
    const where = this.#failed ?? network;
    const fields = { ...this.#who, network: where, ms: rounded(ms) };
    if (fault === undefined) log.write(frequent.has(verb) ? "debug" : "info", fields, `${verb} done`);
    else {
      metrics.add("plexus_call_failures_total", { verb, fault: fault.kind });
      log.write("error", { ...fields, ...faultFields(fault) }, fault.msg);
      failures.note({
        time: new Date().toISOString(),
        request: this.#who.request,
        verb,
        pod: this.#who.pod ?? "",
        container: this.#who.container ?? "",
        network: inertLine(where ?? "", longestName),
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
    const endMs = performance.timeOrigin + performance.now();
    const { pod, container, ifname, request, verb } = this.#who;
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

interface Recorded extends Pick<FinishedSpan, "context" | "parentId" | "name" | "kind" | "attributes"> {
  readonly ms: number;
  readonly failure: Fault | undefined;
}

/** Where ipam-host-local keeps leases unless it is told otherwise. */
function leaseDirectoryOf({ wasm }: NonNullable<CallEnd["configuration"]>): string {
  const grants = Object.hasOwn(wasm.grants, "ipam-host-local") ? wasm.grants["ipam-host-local"] : undefined;
  return (grants ?? wasm.otherGrants).leases?.directories?.[0] ?? defaultLeaseDirectory;
}

const levels: readonly DaemonLogLevel[] = ["debug", "info", "warn", "error"];

/** `namespace/name` of CNI_ARGS, of which nothing else is told: there are secrets in it. */
function podOf(args: string): string | undefined {
  const known = new Map(callArgs(args));
  const [namespace, name] = ["K8S_POD_NAMESPACE", "K8S_POD_NAME"].map((key) => inertLine(known.get(key) ?? "", longestName));
  return namespace === undefined || namespace === "" || name === "" ? undefined : `${namespace}/${name}`;
}

function faultFields({ kind, code }: Fault): { readonly fault: FaultKind; readonly code: number } {
  return { fault: Object.hasOwn(catalogue, kind) ? kind : "INTERNAL", code };
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
