// The last calls of the daemon with their steps, for `plexusctl ui`. An ended call is kept as one JSON text: its size is known, and it keeps
// no part of the request's memory alive.

import type { StepOutcome } from "../../src/cni/chain-step.ts";
import { catalogue } from "../../src/fault/catalogue.ts";
import type { Fault } from "../../src/fault/fault.ts";
import { harmlessMessage, inertLine } from "../../src/text/inert-text.ts";
import type { StepIdentity } from "../engine/events/call-events.ts";
import type { Clock } from "../system/clock.ts";
import type { CallNames, RecentCall, RecentStep } from "./recent-calls-document.ts";
import type { ReportedFault } from "./status-document.ts";

/** A call while it runs. */
export interface OngoingCall {
  step(step: StepIdentity, ms: number, outcome: StepOutcome): void;
  /** Ends the call; `keep`: whether it is worth keeping. */
  end(end: {
    readonly network: string | undefined;
    readonly ms: number;
    readonly fault: Fault | undefined;
    readonly keep: boolean;
  }): void;
}

/** Maximum calls, and maximum UTF-16 units of their texts, that are kept. */
export const maxCalls = 200;
export const maxUnits = 512 * 1024;
const maxSteps = 64;
/** More calls than this cannot run at once: the call server's own bounds are lower. */
const maxOngoing = 1024;
const maxName = 128;
/** Maximum length of a fault's message, so that one call cannot replace all others. */
const maxMessage = 1024;

const name = (text: string): string => inertLine(text, maxName);

interface Ongoing {
  /** On the monotonic clock. */
  readonly startedAt: number;
  readonly time: Date;
  readonly names: () => CallNames;
  readonly steps: RecentStep[];
  moreSteps: number;
}

/** The last calls of one daemon. */
export class RecentCalls {
  /** Texts of ended calls, the oldest first. */
  readonly #ended: string[] = [];
  readonly #ongoing = new Set<Ongoing>();
  #units = 0;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Begins a call. `names` is read when the document is made or the call has ended. */
  begin(names: () => CallNames): OngoingCall {
    const { now, date } = this.#clock;
    const call: Ongoing = { startedAt: now(), time: date(), names, steps: [], moreSteps: 0 };
    if (this.#ongoing.size < maxOngoing) this.#ongoing.add(call);
    return {
      step(step, ms, outcome) {
        if (call.steps.length < maxSteps) call.steps.push(stepOf(step, now() - call.startedAt - ms, ms, outcome));
        else call.moreSteps += 1;
      },
      end: ({ network = "", ms, fault, keep }) => {
        this.#ongoing.delete(call);
        if (keep) this.#keep(JSON.stringify(callOf(call, { network, ms, running: false, fault })));
      },
    };
  }

  /** The document as JSON. */
  text(): string {
    const nowMs = this.#clock.now();
    const ongoing = [...this.#ongoing].toReversed().map((call) => {
      return JSON.stringify(callOf(call, { network: "", ms: nowMs - call.startedAt, running: true, fault: undefined }));
    });
    const head = `"apiVersion":"plexus/v1","kind":"RecentCalls","time":${JSON.stringify(this.#clock.date().toISOString())}`;
    return `{${head},"calls":[${[...ongoing, ...this.#ended.toReversed()].join(",")}]}`;
  }

  #keep(text: string): void {
    if (text.length > maxUnits) return;
    this.#ended.push(text);
    this.#units += text.length;
    while (this.#ended.length > maxCalls || this.#units > maxUnits) this.#units -= this.#ended.shift()?.length ?? 0;
  }
}

function callOf(
  { time, names, steps, moreSteps }: Ongoing,
  {
    network,
    ms,
    running,
    fault,
  }: { readonly network: string; readonly ms: number; readonly running: boolean; readonly fault: Fault | undefined },
): RecentCall {
  return {
    ...names(),
    time: time.toISOString(),
    network: name(network),
    ms: rounded(ms),
    running,
    failure: faultOf(fault),
    steps,
    moreSteps,
  };
}

function stepOf(
  { network, ifname, verb, type, kind, nested }: StepIdentity,
  startMs: number,
  ms: number,
  outcome: StepOutcome,
): RecentStep {
  return {
    network: name(network),
    ifname: name(ifname),
    verb,
    type: name(type),
    kind,
    nested,
    startMs: rounded(Math.max(0, startMs)),
    ms: rounded(ms),
    failure: outcome.ok ? null : faultOf(outcome.fault),
  };
}

function faultOf(fault: Fault | undefined): ReportedFault | null {
  if (fault === undefined) return null;
  const kind = Object.hasOwn(catalogue, fault.kind) ? fault.kind : "INTERNAL";
  return {
    fault: kind,
    code: fault.code,
    msg: inertLine(harmlessMessage(fault.msg), maxMessage),
    remedy: catalogue[kind].remedy,
  };
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
