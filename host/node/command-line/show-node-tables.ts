// Commands of plexusctl that show what a feature's tables of this node's pods have. The daemon answers with the tables that it wrote last.

import type { CommandLineMistake } from "../../../src/command-line/read-command-line.ts";
import { type PodTable, readNodeTables } from "../../../src/kube/node-tables.ts";
import { askDaemon } from "./ask-daemon.ts";
import { type CommandResult, failure, type Invocation } from "./command.ts";
import { notAbsolute, statusSocketOf } from "./common-options.ts";
import { printed } from "./printed.ts";
import { table, wrap } from "./table.ts";

/** A feature's tables. `T` has what a table has. */
export interface ShownTables<T> {
  /** The path of the report on the daemon's status socket. */
  readonly path: string;
  /** The kind of the report. */
  readonly kind: string;
  readonly hasTable: (pod: Readonly<Record<string, unknown>>) => boolean;
  /** The message if the feature is off on the node. */
  readonly off: string;
  /** The text in place of an empty list. */
  readonly none: string;
  readonly columns: readonly string[];
  /** The rows of a pod; none: its table is empty. */
  readonly rows: (pod: PodTable & T) => readonly (readonly string[])[];
}

const timeoutMs = 10_000;

/** Runs the command. Its arguments are names of pods; without one, the tables of all pods are shown. */
export async function showNodeTables<T>(line: Invocation, shown: ShownTables<T>): Promise<CommandResult | CommandLineMistake> {
  const wrong = notAbsolute(line, "status-socket");
  if (wrong !== undefined) return wrong;
  const query = new URLSearchParams(line.args.map((pod) => ["pod", pod])).toString();
  const path = query === "" ? shown.path : `${shown.path}?${query}`;
  const answer = await askDaemon({ socketPath: statusSocketOf(line), method: "GET", path, timeoutMs });
  if ("why" in answer) return failure(answer.why);
  const report = readNodeTables<T>(answer.body, shown.kind, shown.hasTable);
  if (report === undefined)
    return failure("this plexusctl cannot read the answer: do plexusctl and plexusd have the same version?");
  if (!report.isOn) return failure(shown.off);
  const { pods } = report;
  const unknown = line.args.filter((name) => pods.every(({ pod }) => pod !== name));
  const problems = [
    ...pods.flatMap(({ pod, failure: why }) => (why === undefined ? [] : [`${pod}: ${why}`])),
    ...unknown.map((pod) => `${pod}: this node has no attachment of it`),
  ];
  const text = (width: number): string => {
    const rows = pods.flatMap((pod) => shown.rows(pod));
    const titles = shown.columns.map((title) => ({ title }));
    const list = rows.length === 0 ? [shown.none] : table(titles, rows, width);
    const shortfalls = pods.flatMap(({ pod, shortfall }) => (shortfall === undefined ? [] : [`${pod}: ${shortfall}`]));
    const notes = [...problems, ...shortfalls].flatMap((each) => wrap(`- ${each}`, width));
    return `${[...list, ...(notes.length === 0 ? [] : ["", ...notes])].join("\n")}\n`;
  };
  const names = (): readonly string[] => pods.flatMap((pod) => (shown.rows(pod).length > 0 ? [pod.pod] : []));
  return { stdout: await printed({ value: report, text, names }, line), status: problems.length > 0 ? 1 : 0 };
}
