// The text that a guest writes in one call: its log, and what its language's runtime writes to stdout and stderr. The text is bounded by the
// call's log budget.

import type { Guest } from "../abi/guest.ts";
import type { LogLimits } from "../limits.ts";
import { LogBudget, type LogLevel, type WriteLog } from "./log-import.ts";

/** A stream of a guest. */
export type StreamName = "stdout" | "stderr";

/** Maximum UTF-16 units of the last lines that an error's details contain. */
export const maxLastLines = 4096;
/** Maximum UTF-16 units of a line without its end; a longer one is written in parts. */
const maxPending = 4096;

const levelOf: Readonly<Record<StreamName, LogLevel>> = { stdout: "info", stderr: "error" };

/** The output of one call. */
export class GuestOutput {
  readonly #budget: LogBudget;
  readonly #toLog: WriteLog | undefined;
  readonly #decoders: Partial<Record<StreamName, TextDecoder>> = {};
  readonly #pending: Record<StreamName, string> = { stdout: "", stderr: "" };
  #last = "";

  /** `toLog` takes the lines of stdout and stderr; undefined for a component that may not log. */
  constructor(limits: LogLimits, toLog: WriteLog | undefined) {
    this.#budget = new LogBudget(limits);
    this.#toLog = toLog;
  }

  /** The import `log.write`. Throws GuestFault. */
  writeLog(guest: Guest, flat: readonly number[], write: WriteLog): void {
    this.#budget.write(guest, flat, (level, message) => {
      if (level === "error") this.#remember(message);
      write(level, message);
    });
  }

  /** Bytes that the guest writes to a stream. They become log lines when a line or the call ends. Throws GuestFault. */
  writeStream(guest: Guest, stream: StreamName, pointer: number, length: number): void {
    const bytes = this.#budget.take(guest, pointer, length);
    const decoder = (this.#decoders[stream] ??= new TextDecoder("utf-8"));
    const lines = (this.#pending[stream] + decoder.decode(bytes, { stream: true })).split("\n");
    const rest = lines.pop() ?? "";
    for (const line of lines) this.#line(stream, line);
    const isLong = rest.length > maxPending;
    if (isLong) this.#line(stream, rest);
    this.#pending[stream] = isLong ? "" : rest;
  }

  /** Writes the lines that have no end yet. */
  flush(): void {
    for (const stream of ["stdout", "stderr"] as const) {
      const rest = this.#pending[stream];
      this.#pending[stream] = "";
      if (rest !== "") this.#line(stream, rest);
    }
  }

  /** The last lines of error, for the details of a call that broke. Empty if there are none. */
  lastLines(): string {
    return this.#last;
  }

  #line(stream: StreamName, text: string): void {
    if (stream === "stderr") this.#remember(text);
    const toLog = this.#toLog;
    if (toLog !== undefined && text !== "") this.#budget.writeLine(levelOf[stream], text, toLog);
  }

  #remember(line: string): void {
    if (line === "") return;
    const joined = this.#last === "" ? line : `${this.#last}\n${line}`;
    this.#last = joined.slice(-maxLastLines);
  }
}
