// plexusctl reconcile: has the daemon look now for what no runtime deletes, and shows what it found.

import { type Finding, reasonOf, type RoundReport } from "../reconcile/finding.ts";
import { askDaemon } from "./ask-daemon.ts";
import { notOurs, reportOf } from "./status-form.ts";
import { table } from "./table.ts";

/** A round takes 30 s at most, and ends what it has begun. */
const patienceMs = 120_000;

/** The round's report, or why there is none. */
export async function askForRound(socketPath: string, dryRun: boolean): Promise<RoundReport | string> {
  const path = dryRun ? "/reconcile?dry-run" : "/reconcile";
  const answer = await askDaemon({ socketPath, method: "POST", path, patienceMs });
  return "why" in answer ? answer.why : (reportOf(answer.body) ?? notOurs);
}

/** What a round could not take away although it would have, or could not look at. */
export function roundNeedsAttention({ hands, findings, problems }: RoundReport): boolean {
  const tried: readonly Finding["handling"][] = ["failed", "given-up", "paused"];
  return !hands || problems.length > 0 || findings.some(({ handling }) => tried.includes(handling));
}

/** For a person, within `width` columns. */
export function roundText({ dryRun, hands, entries, findings, problems }: RoundReport, width: number): string {
  const rows = findings.map((each) => [each.kind, within(each), reasonOf(each), each.handling]);
  const titles = ["KIND", "WHICH", "WHY", "DONE"].map((title) => ({ title }));
  const notes = findings.flatMap(({ id, note }) => (note === undefined ? [] : [`  ${id}: ${note}`]));
  return [
    `${dryRun ? "Dry run: " : ""}${counted(entries, "entry", "entries")} in the journal, ${counted(findings.length, "finding", "findings")}`,
    ...(hands ? [] : ["No resident hands are connected: nothing is cleaned. To do: systemctl start plexus-hands"]),
    ...problems.map((problem) => `Problem: ${problem}`),
    ...(rows.length === 0 ? [] : ["", ...table(titles, rows, width)]),
    ...(notes.length === 0 ? [] : ["", ...notes]),
    "",
  ].join("\n");
}

/** A path below the state directory without that, so that in a narrow column the part is left that tells one from another. */
function within({ id, directory }: Finding): string {
  return id.startsWith(`${directory}/`) ? id.slice(directory.length + 1) : id;
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
