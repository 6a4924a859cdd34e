// Chain traces as text for a terminal. Every text of a trace is foreign: it becomes one line without control characters.

import type { ChainTrace, ImportCall, StepRecord } from "../../../src/chain-trace/chain-trace.ts";
import type { RecordingReport } from "../rules/recording-request.ts";
import { type StepDifference, stepName } from "../rules/trace-differences.ts";
import type { JsonChange } from "../../../src/json/json-changes.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import type { ReplayReport } from "../replay/replay-trace.ts";
import type { TraceFile } from "../../../host/store/traces/trace-directory.ts";
import { table } from "../../../host/node/command-line/table.ts";

/** Maximum UTF-16 units of a line with `-o wide`. */
const maxLine = 100_000;

/** The files of a directory. */
export function listText(directory: string, files: readonly TraceFile[], width: number): string {
  if (files.length === 0) return `no traces in ${line(directory, width)}\n`;
  const rows = files.map(({ name, bytes }) => [String(Math.ceil(bytes / 1024)), name]);
  return joined([
    `Traces in ${line(directory, width)}:`,
    ...table([{ title: "KIB", align: "right" }, { title: "FILE" }], rows, Infinity),
  ]);
}

/** The steps of a trace: result, changes, imports, verdicts. */
export function traceText(trace: ChainTrace, width: number): string {
  const { call, reply, ms, time, plexus, steps, secrets, omitted } = trace;
  const subject = call.pod ?? call.containerId;
  const head = [
    `${call.verb} ${subject} ${call.ifname}: ${reply.status === 0 ? "succeeded" : "FAILED"} in ${shownDuration(ms)}`,
    `  at ${time}, by Plexus ${plexus}; container ${call.containerId}, namespace ${call.netns || "none"}`,
    ...(secrets === 0 ? [] : [`  tokens stand for ${secrets} secrets`]),
    ...omitted.map((each) => `  missing: ${each}`),
    ...(reply.status === 0 ? [] : [`  error: ${reply.stdout}`]),
  ];
  return joined([...head.map((each) => line(each, width)), ...steps.flatMap((step) => ["", ...stepLines(step, width, "")])]);
}

function stepLines(step: StepRecord, width: number, indent: string): readonly string[] {
  const { kind, ms, startMs, outcome, native, component, changes, verdicts, omitted, caller, steps } = step;
  const below = `${indent}  `;
  const lines = [
    `${indent}${outcome.ok ? "ok" : "FAILED"}  ${stepName(step)}: ${kind}, ${shownDuration(ms)} from ${shownDuration(startMs)} on${caller === "chain" ? "" : `, ${caller === "delegate" ? "called by the delegate" : "called by the plugin"}`}`,
    ...(native === undefined ? [] : [`${below}${native.path}: ${native.exit}`]),
    ...(native === undefined || native.stderr === "" ? [] : [`${below}stderr: ${native.stderr}`]),
    ...(component === undefined ? [] : [`${below}${component.path} ${component.digest.slice(0, 19)}${usageOf(component.usage)}`]),
    ...(component?.calls ?? []).map((call) => `${below}import ${callText(call)}`),
    ...(component?.log ?? []).map((each) => `${below}log ${each}`),
    ...changes.map((change) => `${below}${changeText(change)}`),
    ...(step.result !== undefined && changes.length === 0 ? [`${below}changes nothing of prevResult`] : []),
    ...verdicts.map(({ kind: verdict, text }) => `${below}verdict ${verdict}: ${text}`),
    ...(outcome.ok ? [] : [`${below}${outcome.fault.kind} (code ${outcome.fault.code}): ${outcome.fault.msg}`]),
    ...(omitted.length === 0 ? [] : [`${below}missing: ${omitted.join(", ")}`]),
  ];
  return [...lines.map((each) => line(each, width)), ...steps.flatMap((each) => stepLines(each, width, below))];
}

function usageOf(usage: { readonly memoryBytes: number; readonly guestMs: number } | undefined): string {
  return usage === undefined ? "" : `, ${usage.memoryBytes / 1024} KiB, ${shownDuration(usage.guestMs)} of its own`;
}

function callText({ capability, func, args, answer, isCut, ms }: ImportCall): string {
  const shownArgs = JSON.stringify(args).slice(1, -1);
  return `${capability}.${func}(${shownArgs}) = ${isCut === true ? "(not recorded)" : JSON.stringify(answer)} in ${shownDuration(ms)}`;
}

function changeText(change: JsonChange): string {
  const path = change.path === "" ? "/" : change.path;
  switch (change.op) {
    case "add":
      return `+ ${path}: ${JSON.stringify(change.value)}`;
    case "remove":
      return `- ${path}: ${JSON.stringify(change.before)}`;
    default:
      return `~ ${path}: ${JSON.stringify(change.before)} -> ${JSON.stringify(change.value)}`;
  }
}

/** The differences of two traces. */
export function differencesText(differences: readonly StepDifference[], width: number): string {
  if (differences.length === 0) return "the traces have the same steps, with the same input, imports and outcome\n";
  return joined(
    differences.flatMap(({ step, only, changes }) => [
      line(only === undefined ? step : `${step}: only in the ${only === "before" ? "first" : "second"} trace`, width),
      ...changes.map((change) => line(`  ${changeText(change)}`, width)),
    ]),
  );
}

/** The outcome of a replay. */
export function replayText({ identical, steps, results }: ReplayReport, width: number): string {
  const words = { identical: "identical", differs: "DIFFERS", recorded: "from the record", impossible: "NOT REPLAYED" };
  const lines = steps.flatMap((step) => [
    `${words[step.status]}  ${step.verb} ${step.type}${step.purpose === "undo" ? " (undo)" : ""} of ${step.network} as ${step.ifname}`,
    ...(step.text === "" ? [] : [`  ${step.text}`]),
    ...step.changes.map((change) => `  ${changeText(change)}`),
    ...step.notes.map((note) => `  note: ${note}`),
  ]);
  const ends = results.map(({ network, ifname, result }) => `result of ${network} as ${ifname}: ${JSON.stringify(result)}`);
  const verdict = identical ? "every component gave the recorded outcome" : "NOT every component gave the recorded outcome";
  return joined([...lines, ...ends, verdict].map((each) => line(each, width)));
}

/** The state of a recording. */
export function recordingText({ directory, request, until, written }: RecordingReport, width: number): string {
  const what =
    request === undefined
      ? "nothing is being recorded"
      : `recording ${request.onlyFailed ? "failed calls" : "calls"} of ${request.pod ?? "every container"}: at most ${request.next}, until ${until ?? ""}`;
  return joined([what, `traces go to ${directory}`, ...written].map((each) => line(each, width)));
}

function shownDuration(ms: number): string {
  return `${ms.toFixed(1)} ms`;
}

/** One line for the terminal, cut at its width. */
function line(text: string, width: number): string {
  const inert = inertLine(text, maxLine).trimEnd();
  return inert.length > width ? `${inert.slice(0, width - 1)}…` : inert;
}

function joined(lines: readonly string[]): string {
  return `${lines.join("\n")}\n`;
}
