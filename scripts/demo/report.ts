// The demo's report and its text form.

import { styleText } from "node:util";
import { quantile } from "../../bench/measure.ts";
import type { Step } from "./steps.ts";

/** Milliseconds of ADDs of one pod, from the start of the shim to its end. */
export interface AddTimes {
  readonly pod: string;
  /** The daemon's first call. */
  readonly firstMs: number;
  /** The next ADDs; none if a call failed. */
  readonly warmMs: readonly number[];
  readonly withoutDaemonMs: number;
}

/** Executions of Plexus' programs. Each sandbox process is one execution of the launcher and one of Node. */
export interface ExecutionCounts {
  readonly plexus: number;
  readonly node: number;
  readonly sandboxes: number;
}

/** Executed programs: those of the calls through the daemon, of the daemon itself, and of the call without a daemon. */
export interface ExecutedPrograms {
  readonly calls: ExecutionCounts;
  readonly daemon: ExecutionCounts;
  readonly callWithoutDaemon: ExecutionCounts;
  /** Programs that are not Plexus' own and were executed or installed. */
  readonly others: readonly string[];
  /** Steps that ran as native plugins. */
  readonly nativeSteps: number;
}

export interface Report {
  readonly title: string;
  readonly addTimes: AddTimes;
  /** Calls that were sent to the daemon, and the daemon's own count of calls that it answered. */
  readonly daemonCalls: { readonly sent: number; readonly served: number };
  readonly pods: readonly {
    readonly name: string;
    readonly addMs: number;
    readonly checkMs: number;
    readonly delMs: number;
    readonly addresses: readonly string[];
    readonly networkStatus: readonly object[];
  }[];
  /** The steps of the calls of `pods`. */
  readonly steps: readonly Step[];
  readonly pings: readonly { readonly network: string; readonly ip: string; readonly answered: boolean }[];
  readonly left: {
    readonly podLinks: readonly string[];
    readonly hostLinks: readonly string[];
    readonly leases: readonly string[];
    readonly journal: readonly string[];
    /** Sockets of the stopped daemon. */
    readonly daemonSockets: readonly string[];
  };
  /** Only of a run without native plugins. */
  readonly executed?: ExecutedPrograms;
  /** Bridges that are left on purpose. */
  readonly bridges: readonly string[];
  readonly faults: readonly string[];
}

/** Whether everything that the report states is as it should be. */
export function succeeded(report: Report): boolean {
  const { faults, left, pings, executed } = report;
  return (
    faults.length === 0 &&
    servedAll(report) &&
    Object.values(left).flat().length === 0 &&
    (executed === undefined || onlyComponents(executed, report)) &&
    pings.length > 0 &&
    pings.every((ping) => ping.answered)
  );
}

/** Whether the daemon answered the calls that were sent to it, and no other call. */
function servedAll({ daemonCalls: { sent, served } }: Report): boolean {
  return sent > 0 && served === sent;
}

/** Whether no program of others ran, and each call through the daemon executed the shim only. */
function onlyComponents({ calls, others, nativeSteps }: ExecutedPrograms, { daemonCalls }: Report): boolean {
  return others.length === 0 && nativeSteps === 0 && calls.plexus === daemonCalls.sent && calls.node === 0;
}

/** The report as text, with colours if stdout is a terminal that supports them. */
export function showReport(report: Report): string {
  const { addTimes, daemonCalls, executed } = report;
  const lines: string[] = [];
  const title = (text: string): void => void lines.push("", styleText("bold", text));
  lines.push("", styleText(["bold", "underline"], report.title));
  title(`An ADD of ${addTimes.pod}: three networks, from the runtime's call to the answer`);
  lines.push(...timeRows(addTimes));
  lines.push(
    `  ${mark(servedAll(report))} plexusd served ${daemonCalls.served} of the ${daemonCalls.sent} calls that were sent to it`,
  );
  title("Steps through the warm daemon (└ marks a delegate that the step above called)");
  lines.push(...table(report.steps));
  title("Pods");
  for (const pod of report.pods) {
    lines.push(`  ${pod.name}: ADD ${ms(pod.addMs)}, CHECK ${ms(pod.checkMs)}, DEL ${ms(pod.delMs)}`);
    lines.push(...pod.addresses.map((address) => `    ${address}`));
    lines.push("    k8s.v1.cni.cncf.io/network-status:", ...pod.networkStatus.map((entry) => `      ${JSON.stringify(entry)}`));
  }
  title("From web to database");
  for (const ping of report.pings) lines.push(`  ${mark(ping.answered)} ${ping.ip} (${ping.network})`);
  if (executed !== undefined) {
    title("Executed programs (recorded with ptrace, which the times above include)");
    lines.push(...executedRows(executed, report));
  }
  title("Left after DEL and the daemon's stop");
  for (const [kind, names] of Object.entries(report.left)) {
    lines.push(`  ${mark(names.length === 0)} ${kind}: ${names.length === 0 ? "none" : names.join(", ")}`);
  }
  lines.push(`    (${report.bridges.join(", ")}: bridges stay for other pods; the demo removed them)`);
  for (const each of report.faults) lines.push("", styleText("red", each));
  lines.push(
    "",
    succeeded(report) ? styleText("green", "Everything worked.") : styleText("red", "Something failed: see above."),
    "",
  );
  return lines.join("\n");
}

function timeRows({ firstMs, warmMs, withoutDaemonMs }: AddTimes): string[] {
  const warm = ms(quantile(warmMs, 0.5));
  const rows = [
    ...(warmMs.length === 0
      ? []
      : [["through plexusd, warm", warm, `median of the ${warmMs.length} ADDs after the first`] as const]),
    ["through plexusd, first", ms(firstMs), "sandbox processes start, load the components, and stay"],
    ["without a daemon", ms(withoutDaemonMs), "an engine and its sandbox processes start for this one call"],
  ] as const;
  return rows.map(([engine, time, reason]) => `  ${engine.padEnd(22)}  ${time.padStart(7)}  ${reason}`);
}

function executedRows(executed: ExecutedPrograms, report: Report): string[] {
  return [
    `  ${mark(onlyComponents(executed, report))} native plugins: ${executed.others.join(", ") || "none"}`,
    `    ${report.daemonCalls.sent} calls through plexusd: ${countsText(executed.calls)}`,
    `    plexusd itself: ${countsText(executed.daemon)}`,
    `    one call without a daemon: ${countsText(executed.callWithoutDaemon)}`,
  ];
}

function countsText({ plexus, node, sandboxes }: ExecutionCounts): string {
  return `plexus ${plexus} times, node ${node} times (${sandboxes} in sandbox processes)`;
}

function table(steps: readonly Step[]): string[] {
  const rows = callersFirst(steps).map((step) => [
    step.containerId.replace(/^demo-/, ""),
    step.verb,
    step.network,
    step.ifname,
    `${step.nested ? "  └ " : ""}${step.type}`,
    step.kind === "wasm" ? "WASM" : "native",
    step.ms.toFixed(1),
  ]);
  const all = [["pod", "verb", "network", "ifname", "step", "runs as", "ms"], ...rows];
  const widths = (all[0] ?? []).map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length)));
  return all.map((row, index) => {
    const line = row.map((cell, column) =>
      column === 6 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
    );
    return styleText(index === 0 ? "underline" : "reset", `  ${line.join("  ")}`);
  });
}

/** A nested call ends before its caller, so the trace has it first. The table shows it below its caller. */
function callersFirst(steps: readonly Step[]): Step[] {
  const ordered: Step[] = [];
  let nested: Step[] = [];
  for (const step of steps) {
    nested.push(step);
    if (step.nested) continue;
    ordered.push(step, ...nested.slice(0, -1));
    nested = [];
  }
  return [...ordered, ...nested];
}

function mark(ok: boolean): string {
  return ok ? styleText("green", "✓") : styleText("red", "✗");
}

function ms(value: number): string {
  return `${value.toFixed(0)} ms`;
}
