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

/** What the command reached: the daemon's last report, and whether pods were left behind because the time was over. */
export interface Retirement extends RetireReport {
  readonly timedOut: boolean;
}

/** Retires Plexus. Answers the last report, or the reason why there is none. stderr gets a line whenever the pods waited for change. */
export async function retireAndWait(socketPath: string, timeoutMs: number): Promise<Retirement | string> {
  const end = performance.now() + timeoutMs;
  let lastLine = "";
  for (;;) {
    const report = await takeStep(socketPath, "begin");
    if (typeof report === "string") return report;
    // An earlier command has finished the removal.
    if (report.standing === "withdrawn") return { ...report, timedOut: false };
    // An incomplete list of pods is no reason to go on.
    const isDone = report.pods.length === 0 && report.problems.length === 0;
    if (isDone || performance.now() >= end) {
      const finished = await takeStep(socketPath, "finish");
      return typeof finished === "string" ? finished : { ...finished, timedOut: !isDone };
    }
    const line = [...report.problems, ...(report.pods.length === 0 ? [] : [`waits for ${podNames(report)}`])].join("; ");
    if (line !== lastLine) process.stderr.write(`plexusctl: ${inertLine(line, maxLine)}\n`);
    lastLine = line;
    await new Promise((resolve) => setTimeout(resolve, Math.min(pollMs, Math.max(1, end - performance.now()))));
  }
}

/** Ends a retirement: new pods get their networks again. */
export async function cancelRetirement(socketPath: string): Promise<Retirement | string> {
  const report = await takeStep(socketPath, "cancel");
  return typeof report === "string" ? report : { ...report, timedOut: false };
}

/** Whether the administrator still has something to do. */
export function retirementNeedsAttention({ timedOut, problems }: Retirement): boolean {
  return timedOut || problems.length > 0;
}

/** The last report as text. */
export function retirementText({ configuration, standing, pods, problems }: Retirement): string {
  const rest = pods.map(
    ({ pod, networks }) => `Remains: ${pod} has ${networks.join(", ")}; a DEL without Plexus does not undo them`,
  );
  const ends: Readonly<Record<Retirement["standing"], string>> = {
    "in-force": `${configuration}: new pods get their networks`,
    retired: `${configuration}: new pods get the default network only`,
    withdrawn: `${configuration}: removed; the runtime uses the node's next configuration`,
  };
  const lines = [...problems.map((problem) => `Problem: ${problem}`), ...(standing === "in-force" ? [] : rest)];
  return `${[...lines, ...(problems.length === 0 ? [ends[standing]] : [])].join("\n")}\n`;
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
    typeof value["standing"] === "string" &&
    Array.isArray(value["pods"]) &&
    Array.isArray(value["problems"])
  );
}
