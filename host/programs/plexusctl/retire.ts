// plexusctl uninstall --wait: takes Plexus out of the path of new pods, waits for the pods that need it, and then lets the daemon remove its
// network configuration.

import { isJsonObject, parseDocument } from "../../../src/json/document.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import type { RetireReport, RetireStep } from "../../node/uninstall/retire-report.ts";
import { askDaemon } from "./ask-daemon.ts";

/** Interval of the questions to the daemon, and time limit of one, in ms. */
const pollMs = 1000;
const patienceMs = 30_000;
/** Maximum length of a line, in UTF-16 units, and maximum pods in it. */
const maxLine = 2048;
const maxNames = 10;

/** Retires Plexus. Answers the last report, or the reason why there is none. stderr gets a line whenever the pods waited for change. */
export async function retireAndWait(socketPath: string, timeoutMs: number): Promise<RetireReport | string> {
  const end = performance.now() + timeoutMs;
  let lastLine = "";
  for (;;) {
    const report = await takeStep(socketPath, "begin");
    if (typeof report === "string") return report;
    // An incomplete list of pods is no reason to go on.
    const isDone = report.pods.length === 0 && report.problems.length === 0;
    const isLate = performance.now() >= end;
    if (isDone || isLate) {
      const finished = await takeStep(socketPath, "finish");
      return typeof finished === "string"
        ? finished
        : { ...finished, pods: report.pods, problems: [...new Set([...report.problems, ...finished.problems])] };
    }
    const line = [...report.problems, ...(report.pods.length === 0 ? [] : [`waits for ${podNames(report)}`])].join("; ");
    if (line !== lastLine) process.stderr.write(`plexusctl: ${inertLine(line, maxLine)}\n`);
    lastLine = line;
    await new Promise((resolve) => setTimeout(resolve, Math.min(pollMs, Math.max(1, end - performance.now()))));
  }
}

/** Ends a retirement: new pods get their networks again. */
export function cancelRetirement(socketPath: string): Promise<RetireReport | string> {
  return takeStep(socketPath, "cancel");
}

/** The last report as text. */
export function retirementText(report: RetireReport): string {
  const { configuration, retired, pods, problems } = report;
  const rest = pods.map(
    ({ pod, networks }) => `Remains: ${pod} has ${networks.join(", ")}; a DEL without Plexus does not undo them`,
  );
  const lines = [
    ...problems.map((problem) => `Problem: ${problem}`),
    ...(retired ? rest : []),
    retired && problems.length === 0 ? `${configuration}: removed; the runtime uses the node's next configuration` : "",
    retired ? "" : `${configuration}: new pods get their networks`,
  ];
  return `${lines.filter((line) => line !== "").join("\n")}\n`;
}

function podNames({ pods }: RetireReport): string {
  const names = pods.slice(0, maxNames).map(({ pod, networks }) => `${pod} (${networks.join(", ")})`);
  const more = pods.length > maxNames ? `, and ${pods.length - maxNames} more` : "";
  return `${pods.length} pods with networks of Plexus: ${names.join(", ")}${more}`;
}

async function takeStep(socketPath: string, step: RetireStep): Promise<RetireReport | string> {
  const answer = await askDaemon({ socketPath, method: "POST", path: `/retire?${step}`, patienceMs });
  if ("why" in answer) {
    const writesNone = answer.why.endsWith(" 409");
    return writesNone ? "it writes no network configuration; use plexusctl uninstall without --wait" : answer.why;
  }
  const document = parseDocument(answer.body, { what: "the daemon's answer" });
  const report = document.ok ? document.value.parsed : undefined;
  return isReport(report) ? report : "its answer has an unknown form: plexusctl and the daemon must be of one release";
}

function isReport(value: unknown): value is RetireReport {
  return (
    isJsonObject(value) &&
    typeof value["retired"] === "boolean" &&
    Array.isArray(value["pods"]) &&
    Array.isArray(value["problems"])
  );
}
