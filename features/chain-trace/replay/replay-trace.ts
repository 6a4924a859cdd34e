// Replays a chain trace: runs each component again in the sandbox, with the recorded input and the recorded answers of its imports, and compares
// the outcome. Native plugins are answered from the record. Nothing on the node is read but the components, and nothing is changed.

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { ChainTrace, ComponentRecord, StepNames, StepRecord, TracedOutcome } from "../../../src/chain-trace/chain-trace.ts";
import { ImportReplay } from "../../../src/chain-trace/import-replay.ts";
import { hasTokens } from "../rules/redact-trace.ts";
import { allSteps } from "../../../src/chain-trace/step-record.ts";
import { type Difference, outcomeDifference } from "../rules/trace-differences.ts";
import { boundedJson } from "../../../src/json/bounded-json.ts";
import type { JsonChange } from "../../../src/json/json-changes.ts";
import { withoutStepSecrets } from "../../../src/text/secret-values.ts";
import type { DelegateHost } from "../../../host/capabilities/delegate-host.ts";
import { runDelegateStep } from "../../../host/engine/steps/delegate-step.ts";
import type { Shim } from "../../../host/protocol/shim.ts";
import { namedByFile } from "../../../host/sandbox/component-file.ts";
import { nameOf } from "../../../host/sandbox/component-names.ts";
import { limitsOf, maxLimits } from "../../../host/sandbox/limits.ts";
import { ComponentDemands } from "../../../host/sandbox/provenance/component-demands.ts";
import { systemClock } from "../../../host/system/clock.ts";
import { recordedStep } from "./recorded-step.ts";
import type { ReplaySandbox } from "./replay-sandbox.ts";
import { replayedImports } from "./replayed-imports.ts";

/** How a step was replayed. `recorded`: a native plugin, answered from the record. `impossible`: `text` says why. */
export type ReplayStatus = "identical" | "differs" | "recorded" | "impossible";

/** One step of a replay. */
export interface ReplayedStep extends StepNames {
  readonly status: ReplayStatus;
  /** The differences, or the reason why the step could not be replayed; empty otherwise. */
  readonly text: string;
  /** The places of the result that differ from the record. */
  readonly changes: readonly JsonChange[];
  /** Remarks, such as that the component's file has changed since. */
  readonly notes: readonly string[];
}

/** The report of a replay. */
export interface ReplayReport {
  /** Whether every component gave the recorded outcome. */
  readonly identical: boolean;
  readonly steps: readonly ReplayedStep[];
  /** The result of the last step of each chain of an ADD: replayed, or recorded for a native plugin. */
  readonly results: readonly { readonly network: string; readonly ifname: string; readonly result: unknown }[];
}

/**
 * Replays the steps of a trace, one after the other. Never rejects for a step. `components`: a directory with `TYPE.wasm` in the place of the
 * recorded paths; undefined: the recorded paths.
 */
export async function replayTrace(
  trace: ChainTrace,
  sandbox: ReplaySandbox,
  components: string | undefined,
): Promise<ReplayReport> {
  const steps: ReplayedStep[] = [];
  const results = new Map<string, ReplayReport["results"][number]>();
  for (const record of allSteps(trace.steps)) {
    const { replayed, outcome } = await replayStep(record, sandbox, components);
    steps.push(replayed);
    if (record.caller !== "chain" || record.verb !== "ADD" || !outcome.ok) continue;
    const { network, ifname } = record;
    results.set(`${network} ${ifname}`, { network, ifname, result: boundedJson(outcome.stdout) });
  }
  const identical = steps.every(({ status }) => status === "identical" || status === "recorded");
  return { identical, steps, results: [...results.values()] };
}

interface StepReplay {
  readonly replayed: ReplayedStep;
  readonly outcome: TracedOutcome;
}

async function replayStep(record: StepRecord, sandbox: ReplaySandbox, components: string | undefined): Promise<StepReplay> {
  const { network, ifname, verb, type, kind, caller, purpose, component, outcome } = record;
  const base = { network, ifname, verb, type, kind, caller, purpose, changes: [], notes: [], text: "" };
  if (kind === "native") return { replayed: { ...base, status: "recorded" }, outcome };
  const impossible = (text: string): StepReplay => ({ replayed: { ...base, status: "impossible", text }, outcome });
  const missing = component === undefined ? "its component did not run" : missingPart(record, component);
  if (component === undefined || missing !== undefined) return impossible(missing ?? "");
  const file = readComponent(type, component, components);
  if ("why" in file) return impossible(file.why);
  const { notes } = file;
  const run = await runRecorded(record, component, file, sandbox);
  if ("why" in run) return impossible(run.why);
  const difference = differenceOf(outcome, run.outcome, run.replay);
  if (difference === undefined) return { replayed: { ...base, notes, status: "identical" }, outcome: run.outcome };
  const mayBeSecret = hasTokens(record) ? ". The trace has tokens in the place of secrets, which may be the reason" : "";
  const { text, changes } = difference;
  return { replayed: { ...base, notes, status: "differs", text: `${text}${mayBeSecret}`, changes }, outcome: run.outcome };
}

/** The part of the record that a replay needs and that is missing; undefined: none. */
function missingPart({ omitted }: StepRecord, { calls }: ComponentRecord): string | undefined {
  const needed = omitted.find((field) => ["stdin", "stdout", "calls", "outcome"].includes(field));
  if (needed !== undefined) return `the trace has no complete ${needed}: it reached its bound`;
  const cut = calls.findIndex(({ isCut }) => isCut === true);
  return cut === -1 ? undefined : `call ${cut + 1} of an import has no recorded answer`;
}

function differenceOf(before: TracedOutcome, now: TracedOutcome, replay: ImportReplay): Difference | undefined {
  if (replay.difference !== undefined) return { text: replay.difference, changes: [] };
  const difference = outcomeDifference(before, now);
  if (difference !== undefined || replay.left === 0) return difference;
  return { text: `${replay.left} recorded calls of imports were not made`, changes: [] };
}

interface ReadComponent {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly notes: readonly string[];
}

function readComponent(
  type: string,
  { path: recorded, digest }: ComponentRecord,
  components: string | undefined,
): ReadComponent | { readonly why: string } {
  if (components !== undefined && type.includes("/")) return { why: "its type is no file name" };
  const path = components === undefined ? recorded : join(components, `${type}.wasm`);
  try {
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > maxLimits.componentBytes)
      return { why: `${path}: is no file, or larger than any component` };
    const bytes = readFileSync(path);
    const now = nameOf(bytes);
    const isSame = digest === "" || digest === now;
    return { path, bytes, notes: isSame ? [] : [`${path} has digest ${now}; recorded: ${digest}`] };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { why: `its component can't be read (${why}); name a directory with ${type}.wasm by --components` };
  }
}

interface RecordedRun {
  readonly outcome: TracedOutcome;
  readonly replay: ImportReplay;
}

async function runRecorded(
  record: StepRecord,
  component: ComponentRecord,
  { path, bytes }: ReadComponent,
  sandbox: ReplaySandbox,
): Promise<RecordedRun | { readonly why: string }> {
  const read = recordedStep(record, component);
  if (!read.ok) return { why: read.fault.msg };
  const { running, wasm } = read.value;
  const calls = component.calls.map(({ capability, func, args, answer }) => ({ name: `${capability}.${func}`, args, answer }));
  const replay = new ImportReplay(calls);
  const host: DelegateHost = {
    wasm,
    admission: sandbox.admission,
    componentNames: namedByFile,
    demands: new ComponentDemands(),
    runner: sandbox.runner(limitsOf(wasm.limits).memoryPages),
    shim: readingShim(bytes),
    clock: systemClock,
    runLeaseOperation: () => Promise.reject(new Error(noEffects)),
    bindRecorded: (_, names) => replayedImports(names, replay),
    log: () => undefined,
  };
  // An identity of its own: two steps may have run different contents of one path.
  const outcome = await runDelegateStep(host, running, { path, identity: nameOf(bytes) });
  if (outcome.ok) return { outcome: { ok: true, stdout: outcome.stdout }, replay };
  // As the engine reports it, so that texts with a token compare equal.
  const { kind, code, msg, details } = withoutStepSecrets(outcome.fault, running.step);
  if (kind === "SANDBOX_UNAVAILABLE") return { why: msg };
  return { outcome: { ok: false, fault: { kind, code, msg, details } }, replay };
}

const noEffects = "a replay has no effects";

function refuse(): Promise<never> {
  return Promise.reject(new Error(noEffects));
}

/** A shim that gives the component's bytes and nothing else. */
function readingShim(content: Uint8Array): Shim {
  return {
    exec: refuse,
    find: refuse,
    read: async () => ({ kind: "content", errno: 0, content }),
    netlink: refuse,
    sysctl: refuse,
    packet: refuse,
    tap: refuse,
    ask: refuse,
    changes: refuse,
    zone: refuse,
    ensureConnected: () => undefined,
  };
}
