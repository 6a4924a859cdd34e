// The log of one call (MC-15): lines for stderr, which the runtime puts into its own log, and for `logFile`. Never a
// configuration, a CNI_ARGS or a result: there are secrets in them. A one-shot call can't rotate the file (MC-16).

import type { HostConfiguration, LogConfiguration, LogLevel } from "../../src/configuration/host-configuration.ts";
import { isJsonObject } from "../../src/json/document.ts";
import { appendLines } from "../files/regular-file.ts";
import type { Request } from "../hands/messages.ts";
import { inertLine } from "../sandbox/inert-text.ts";

/** Characters of log that one call hands to the runtime, and to the file. Delegates have a budget each; all of it must still fit into the reply. */
const mostLog = 1024 * 1024;

/** Characters of a line about the call itself. */
const longestLine = 2048;
/** And of a warning: what is left behind may have many names. */
const longestWarning = 65_536;

/** A log that has grown beyond this is no longer appended to: somebody forgot to rotate it. */
const longestFile = 4 * 1024 * 1024 * 1024;

const order: readonly LogLevel[] = ["panic", "error", "verbose", "debug"];

/** Until a configuration is read, and where none can be. */
const unconfigured: LogConfiguration = { file: undefined, level: "verbose", toStderr: true };

/** What of a reply is told. */
interface Outcome {
  readonly status: number;
  readonly stdout: Uint8Array | string;
}

interface Line {
  readonly level: LogLevel;
  /** As stderr has it, with its line feed. */
  readonly text: string;
}

export class CallLog {
  readonly #lines: Line[] = [];
  readonly #date: () => Date;

  constructor(date: () => Date) {
    this.#date = date;
  }

  /** One line, whatever is in the text: it may quote a plugin, a definition or a file. */
  warn(text: string): void {
    this.#lines.push({ level: "verbose", text: `plexus: warning: ${inertLine(text, longestWarning)}\n` });
  }

  /** A whole line of a delegate's. */
  delegate(text: string): void {
    this.#lines.push({ level: "verbose", text });
  }

  /**
   * Ends the log: writes the file, answers what goes to stderr. A failed call's reason goes to the file only: the runtime has
   * it as the answer.
   */
  end(
    { environment }: Pick<Request, "environment">,
    reply: Outcome,
    configuration: Pick<HostConfiguration, "name" | "log"> | undefined,
    ms: number,
  ): string {
    const { file, level, toStderr } = configuration?.log ?? unconfigured;
    const told = order.indexOf(level);
    const lines = this.#lines.filter((line) => order.indexOf(line.level) <= told);
    const texts = lines.map(({ text }) => text);
    if (file !== undefined) {
      const own = this.#ofCall(environment, reply, configuration?.name ?? "", ms).filter(
        (line) => order.indexOf(line.level) <= told,
      );
      const problem = this.#append(file, [...lines, ...own]);
      if (problem !== undefined) texts.push(`plexus: warning: logFile: ${problem}\n`);
    }
    return toStderr ? texts.join("").slice(0, mostLog) : "";
  }

  #ofCall(environment: Request["environment"], reply: Outcome, network: string, ms: number): Line[] {
    const value = (name: string): string => environment.get(name) ?? "";
    const who = `${value("CNI_COMMAND")} ${value("CNI_CONTAINERID")} ${value("CNI_IFNAME")} ${network}`;
    if (reply.status === 0) return [{ level: "debug", text: `${inertLine(who, longestLine)}: done in ${ms.toFixed(1)} ms\n` }];
    const { code, msg } = errorOf(reply.stdout);
    const line = inertLine(`${who}: failed with code ${code}: ${msg}`, longestLine);
    return [{ level: code === 999 ? "panic" : "error", text: `${line}\n` }];
  }

  #append(file: string, lines: readonly Line[]): string | undefined {
    if (lines.length === 0) return undefined;
    const now = this.#date().toISOString();
    const text = lines.map((line) => `${now} [${line.level}] ${line.text}`).join("");
    try {
      appendLines(file, text.slice(0, mostLog), { most: longestFile, foreign: true, create: true });
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
}

function errorOf(stdout: Outcome["stdout"]): { readonly code: number; readonly msg: string } {
  try {
    const value: unknown = JSON.parse(typeof stdout === "string" ? stdout : Buffer.from(stdout).toString("utf8"));
    if (isJsonObject(value) && typeof value["code"] === "number" && typeof value["msg"] === "string") {
      return { code: value["code"], msg: value["msg"] };
    }
  } catch {
    // Then it is no answer of ours.
  }
  return { code: 999, msg: "no error object" };
}
