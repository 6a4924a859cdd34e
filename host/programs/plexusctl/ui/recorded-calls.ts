// Joins chain traces with the daemon's last calls: a recorded call shows what each step changed. Pure.

import type { ChainTrace, StepRecord } from "../../../../src/chain-trace/chain-trace.ts";
import { catalogue } from "../../../../src/fault/catalogue.ts";
import { isJsonObject } from "../../../../src/json/document.ts";
import { type JsonChange, jsonChanges } from "../../../../src/json/json-changes.ts";
import type { RecentCall } from "../../../telemetry/recent-calls-document.ts";
import type { PageCall, PageChange, PageFault, PageStep } from "./page-data.ts";

/** A trace and the name of its file. */
export interface Recording {
  readonly name: string;
  readonly trace: ChainTrace;
}

/** The trace and the daemon begin to measure a call at nearly the same time. Calls for one container run one after the other. */
const maxApartMs = 1000;
const maxSteps = 64;
const maxChanges = 50;
/** Maximum length of a changed value, in UTF-16 units. */
const maxValue = 400;

/** The daemon's calls, with the steps of their recordings, and the recordings of other calls: running calls first, then the latest. */
export function withRecordings(calls: readonly RecentCall[], recordings: readonly Recording[]): readonly PageCall[] {
  const free = new Map(recordings.map((each) => [each.name, each]));
  const joined = calls.map((call): PageCall => {
    const recording = call.running ? undefined : nearest(call, [...free.values()]);
    if (recording === undefined)
      return { ...call, recorded: null, steps: call.steps.map((step) => ({ ...step, changes: null })) };
    free.delete(recording.name);
    const { steps, moreSteps } = recordedCall(recording);
    return { ...call, recorded: recording.name, steps, moreSteps };
  });
  const others = [...free.values()].map(recordedCall);
  return [...joined, ...others].toSorted(
    (one, other) => Number(other.running) - Number(one.running) || Date.parse(other.time) - Date.parse(one.time),
  );
}

function nearest({ verb, container, ifname, time }: RecentCall, recordings: readonly Recording[]): Recording | undefined {
  const apartMs = ({ trace }: Recording): number => Math.abs(Date.parse(trace.time) - Date.parse(time));
  return recordings
    .filter(({ trace: { call } }) => call.verb === verb && call.containerId === container && call.ifname === ifname)
    .filter((each) => apartMs(each) <= maxApartMs)
    .toSorted((one, other) => apartMs(one) - apartMs(other))[0];
}

/** The call of a recording. */
function recordedCall({ name, trace }: Recording): PageCall {
  const { time, ms, call, reply, steps } = trace;
  const all = steps.flatMap((step) => stepsOf(step, false));
  return {
    request: name,
    time,
    verb: call.verb,
    pod: call.pod ?? "",
    container: call.containerId,
    ifname: call.ifname,
    network: "",
    ms,
    running: false,
    failure: reply.status === 0 ? null : repliedFault(reply.stdout),
    steps: all.slice(0, maxSteps),
    moreSteps: Math.max(0, all.length - maxSteps),
    recorded: name,
  };
}

function stepsOf(record: StepRecord, nested: boolean): readonly PageStep[] {
  const { network, ifname, verb, type, kind, startMs, ms, outcome, changes, steps } = record;
  const failure = outcome.ok ? null : { ...outcome.fault, fault: outcome.fault.kind, remedy: remedyOf(outcome.fault.kind) };
  // A first step has no previous result: each member of its result is a change.
  const ownChanges = record.prevResult === undefined ? jsonChanges({}, record.result, maxChanges).changes : changes;
  const shown = ownChanges.slice(0, maxChanges).map(changeOf);
  const step = {
    network,
    ifname,
    verb,
    type,
    kind,
    nested,
    startMs,
    ms,
    failure,
    changes: record.result === undefined ? null : shown,
  };
  return [step, ...steps.flatMap((each) => stepsOf(each, true))];
}

function changeOf(change: JsonChange): PageChange {
  return {
    path: change.path === "" ? "/" : change.path,
    before: "before" in change ? valueText(change.before) : null,
    after: "value" in change ? valueText(change.value) : null,
  };
}

function valueText(value: unknown): string {
  const text = JSON.stringify(value) ?? "";
  return text.length > maxValue ? `${text.slice(0, maxValue)}…` : text;
}

/** The CNI error that the runtime got. Its details have the remedy. */
function repliedFault(stdout: string): PageFault {
  const error = parsed(stdout);
  const { code, msg, details } = isJsonObject(error) ? error : {};
  return {
    fault: "",
    code: typeof code === "number" ? code : 999,
    msg: typeof msg === "string" ? msg : "the answer is no CNI error",
    remedy: typeof details === "string" ? details : "",
  };
}

function remedyOf(kind: string): string {
  const remedies: Readonly<Record<string, { readonly remedy: string }>> = catalogue;
  return (Object.hasOwn(remedies, kind) ? remedies[kind]?.remedy : undefined) ?? "";
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
