// The demo's report and its text form.

import { styleText } from "node:util";
import type { Step } from "./steps.ts";

export interface Report {
  readonly title: string;
  readonly ok: boolean;
  readonly pods: readonly {
    readonly name: string;
    readonly addMs: number;
    readonly checkMs: number;
    readonly delMs: number;
    readonly addresses: readonly string[];
    readonly networkStatus: readonly object[];
  }[];
  readonly steps: readonly Step[];
  readonly pings: readonly { readonly network: string; readonly ip: string; readonly answered: boolean }[];
  readonly left: {
    readonly podLinks: readonly string[];
    readonly hostLinks: readonly string[];
    readonly leases: readonly string[];
    readonly journal: readonly string[];
  };
  /** Executions of Plexus and Node while the calls were served, and other programs that were executed or installed. */
  readonly executed?: {
    readonly plexus: number;
    readonly node: number;
    /** Starts of sandbox processes; each also counts as an execution of Node. */
    readonly sandboxes: number;
    readonly others: readonly string[];
  };
  /** Bridges that are left on purpose. */
  readonly bridges: readonly string[];
  readonly faults: readonly string[];
}

/** The report as text, with colours if stdout is a terminal that supports them. */
export function showReport(report: Report): string {
  const lines: string[] = [];
  const title = (text: string): void => void lines.push("", styleText("bold", text));
  lines.push("", styleText(["bold", "underline"], report.title));
  title("Steps (└ marks a delegate that the step above called)");
  lines.push(...table(report.steps));
  title("Pods");
  for (const pod of report.pods) {
    lines.push(`  ${pod.name}: ADD ${ms(pod.addMs)}, CHECK ${ms(pod.checkMs)}, DEL ${ms(pod.delMs)}`);
    lines.push(...pod.addresses.map((address) => `    ${address}`));
    lines.push("    k8s.v1.cni.cncf.io/network-status:", ...pod.networkStatus.map((entry) => `      ${JSON.stringify(entry)}`));
  }
  title("From web to database");
  for (const ping of report.pings) lines.push(`  ${mark(ping.answered)} ${ping.ip} (${ping.network})`);
  if (report.executed !== undefined) {
    const { plexus, node, sandboxes, others } = report.executed;
    title("Executed while the calls were served");
    lines.push(
      `  ${mark(others.length === 0)} plexus ${plexus} times, node ${node} times (in ${sandboxes} sandbox processes), native plugins: ${others.join(", ") || "none"}`,
    );
  }
  title("Left after DEL");
  for (const [kind, names] of Object.entries(report.left)) {
    lines.push(`  ${mark(names.length === 0)} ${kind}: ${names.length === 0 ? "none" : names.join(", ")}`);
  }
  lines.push(`    (${report.bridges.join(", ")}: bridges stay for other pods; the demo removed them)`);
  for (const each of report.faults) lines.push("", styleText("red", each));
  lines.push("", report.ok ? styleText("green", "Everything worked.") : styleText("red", "Something failed: see above."), "");
  return lines.join("\n");
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
