// The texts about rounds in the daemon's log and status.

import { inertLine } from "../../../src/text/inert-text.ts";
import { type Finding, type RoundReport, sentenceOf } from "./finding.ts";

/** Maximum findings that one round logs; the others are only counted. */
const maxLogged = 50;
/** Maximum length of a log line, in UTF-16 units. */
const maxLine = 4096;

/** A round in one line, for the status. `waiting`: findings that wait for a call of the runtime. */
export function roundSentence(round: RoundReport, waiting: number): string {
  const count = (...wanted: readonly Finding["handling"][]): number =>
    round.findings.filter(({ handling }) => wanted.includes(handling)).length;
  const agent = round.agent ? "" : "; no agent is connected, so nothing is cleaned";
  const waits = waiting === 0 ? "" : `; ${waiting} wait for a call of the runtime, because the agent runs no native plugins`;
  const problems = round.problems.length === 0 ? "" : `; ${round.problems.join("; ")}`;
  const found = `${round.entries} entries, ${round.findings.length} findings, ${count("cleaned")} cleaned, ${count("failed", "paused", "given-up")} failed`;
  return `${round.dryRun ? "dry run " : ""}at ${round.started}: ${found}${waits}${agent}${problems}`;
}

/** The reconciler's lines in the daemon's log. */
export class RoundLog {
  readonly #write: (text: string) => void;
  #logged: ReadonlyMap<string, string> = new Map();

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** Writes one line. */
  warn(text: string): void {
    this.#write(`reconcile: ${text}`);
  }

  /** Writes the log lines of a call that a round made. */
  lines(text: string): void {
    for (const line of text.split("\n")) if (line !== "") this.warn(inertLine(line, maxLine));
  }

  /** Writes an unexpected error, which is a defect of Plexus. */
  error(error: unknown): void {
    this.warn(stackOf(error));
  }

  /** Writes each finding once, and again when it changes. */
  news({ findings, problems }: RoundReport): void {
    const lines = new Map<string, string>();
    for (const finding of findings) lines.set(`${finding.kind} ${finding.directory} ${finding.id}`, sentenceOf(finding));
    for (const problem of problems) lines.set(problem, problem);
    const news = [...lines].filter(([key, text]) => this.#logged.get(key) !== text).map(([, text]) => text);
    for (const text of news.slice(0, maxLogged)) this.warn(inertLine(text, maxLine));
    if (news.length > maxLogged) this.warn(`and ${news.length - maxLogged} more like these`);
    this.#logged = lines;
  }
}

/** The stack of an unexpected error: a defect of Plexus. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
