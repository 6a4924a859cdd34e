// plexusctl reconcile: makes the daemon run a reconciler round now, and shows the round's report.

import type { CommandLineMistake } from "../../../src/command-line/read-command-line.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import { type Finding, reasonOf, type RoundReport } from "../../node/reconcile/finding.ts";
import { askDaemon } from "../../node/command-line/ask-daemon.ts";
import { type CommandResult, failure, type Invocation } from "../../node/command-line/command.ts";
import { notAbsolute, statusSocketOf } from "../../node/command-line/common-options.ts";
import { printed } from "../../node/command-line/printed.ts";
import { reportOf, unknownForm } from "./status-form.ts";
import { table } from "../../node/command-line/table.ts";

/** A round begins no work after 30 s, but finishes the work that has begun. */
const timeoutMs = 120_000;
/** Maximum length of a line, in UTF-16 units. */
const maxLine = 4096;

/** Runs `plexusctl reconcile`. */
export async function reconcileCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const wrong = notAbsolute(line, "status-socket");
  if (wrong !== undefined) return wrong;
  const socket = statusSocketOf(line);
  const report = await askForRound(socket, line.flags.has("dry-run"));
  if (typeof report === "string") return failure(`reconcile needs the daemon, but ${socket} gave no report: ${report}`);
  const text = (width: number): string => roundText(report, width);
  const names = (): readonly string[] => report.findings.map(({ kind, id }) => `${kind} ${id}`);
  return { stdout: await printed({ value: report, text, names }, line), status: roundNeedsAttention(report) ? 1 : 0 };
}

/** The round's report, or the reason why there is none. */
async function askForRound(socketPath: string, dryRun: boolean): Promise<RoundReport | string> {
  const path = dryRun ? "/reconcile?dry-run" : "/reconcile";
  const answer = await askDaemon({ socketPath, method: "POST", path, timeoutMs });
  return "why" in answer ? answer.why : (reportOf(answer.body) ?? unknownForm);
}

/** Whether the round failed to remove a finding, could not look at a directory, or had no agent. */
function roundNeedsAttention({ agent, findings, problems }: RoundReport): boolean {
  const unsuccessful: readonly Finding["handling"][] = ["failed", "given-up", "paused"];
  return !agent || problems.length > 0 || findings.some(({ handling }) => unsuccessful.includes(handling));
}

/** The report as text; its table has at most `width` columns. */
function roundText({ dryRun, agent, entries, findings, problems }: RoundReport, width: number): string {
  const rows = findings.map((each) => [each.kind, relativeId(each), reasonOf(each), each.handling]);
  const titles = ["KIND", "WHICH", "WHY", "DONE"].map((title) => ({ title }));
  const notes = findings.flatMap(({ id, note }) => (note === undefined ? [] : [`  ${inertLine(`${id}: ${note}`, maxLine)}`]));
  return [
    `${dryRun ? "Dry run: " : ""}${counted(entries, "entry", "entries")} in the journal, ${counted(findings.length, "finding", "findings")}`,
    ...(agent ? [] : ["No agent is connected, so nothing was removed. To do: systemctl start plexus-agent"]),
    ...problems.map((problem) => inertLine(`Problem: ${problem}`, maxLine)),
    ...(rows.length === 0 ? [] : ["", ...table(titles, rows, width)]),
    ...(notes.length === 0 ? [] : ["", ...notes]),
    "",
  ].join("\n");
}

/** The finding's id without the state directory: a narrow column then keeps the part that differs. */
function relativeId({ id, directory }: Finding): string {
  return id.startsWith(`${directory}/`) ? id.slice(directory.length + 1) : id;
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
