// The log of one call (MC-15): lines for stderr, which the runtime copies to its own log, and for `logFile`; and the file of the key `trace`. The log has no
// configuration, no CNI_ARGS and no result, because they may contain secrets. A one-shot engine cannot rotate the file (MC-16). The stderr of plugins
// becomes lines of the log, because stderr is for logs (CNI section 4). A plugin may be hostile: each line is bounded and inert, and names its plugin.

import { type HostConfiguration, hostDefaults } from "../../../src/configuration/host-configuration.ts";
import { type LogConfiguration, type LogLevel, logLevels } from "../../../src/configuration/keys/log-keys.ts";
import { withoutSecrets } from "../../../src/fault/without-secrets.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import type { Redact } from "../../../src/text/secret-values.ts";
import type { Request } from "../../protocol/messages.ts";
import { appendLines } from "../../store/files/regular-file.ts";
import type { CallEvent, Subscriber } from "./call-events.ts";

/** Maximum characters of one call's log, for stderr and for the file each. Delegates have a budget each; the reply must hold them all. */
const maxLogChars = 1024 * 1024;

/** Maximum characters of a line about the call itself, or of a plugin. */
const maxLineChars = 2048;
/** Maximum characters of a warning. A warning about abandoned attachments may contain many names. */
const maxWarningChars = 65_536;

/** Maximum bytes of the log file. A longer file takes no more lines until the administrator rotates it. */
const maxFileBytes = 4 * 1024 * 1024 * 1024;

const order: readonly LogLevel[] = logLevels;

/** The log's settings for a call whose configuration could not be read. */
const defaultLog: LogConfiguration = hostDefaults;

/** The reply's fields that the log reads. */
interface Outcome {
  readonly status: number;
  readonly stdout: Uint8Array | string;
}

interface Line {
  readonly level: LogLevel;
  /** The line as it is printed to stderr, with its line feed. */
  readonly text: string;
}

/** Collects the lines of one call from its events. `date` is the time of day for the lines of the file. */
export class CallLog implements Subscriber {
  readonly #lines: Line[] = [];
  readonly #date: () => Date;

  constructor(date: () => Date) {
    this.#date = date;
  }

  readonly receive = (event: CallEvent): void => {
    if (event.what === "component-logged" || event.what === "plugin-printed")
      this.#lines.push({ level: "verbose", text: event.line });
    // One line, without control characters and secrets: the text may quote a plugin, a definition or a file.
    if (event.what === "warned") {
      const text = withoutSecrets(inertLine(event.text, maxWarningChars));
      this.#lines.push({ level: "verbose", text: `plexus: warning: ${text}\n` });
    }
  };

  /**
   * Ends the log: appends the lines to the file and returns the lines for stderr. The error of a failed call goes to the file
   * only, because the runtime receives it on stdout. `ms`: the call's duration in milliseconds.
   */
  end(
    { environment }: Pick<Request, "environment">,
    reply: Outcome,
    configuration: (Pick<HostConfiguration, "name"> & LogConfiguration) | undefined,
    ms: number,
  ): string {
    const { logFile: file, logLevel: level, logToStderr: toStderr } = configuration ?? defaultLog;
    const maxLevel = order.indexOf(level);
    const lines = this.#lines.filter((line) => order.indexOf(line.level) <= maxLevel);
    const texts = lines.map(({ text }) => text);
    if (file !== undefined) {
      const ending = this.#callEnd(environment, reply, configuration?.name ?? "", ms).filter(
        (line) => order.indexOf(line.level) <= maxLevel,
      );
      const problem = this.#append(file, [...lines, ...ending]);
      if (problem !== undefined) texts.push(`plexus: warning: logFile: ${problem}\n`);
    }
    return toStderr ? texts.join("").slice(0, maxLogChars) : "";
  }

  /** The line that says how the call ended. */
  #callEnd(environment: Request["environment"], reply: Outcome, network: string, ms: number): Line[] {
    const value = (name: string): string => environment.get(name) ?? "";
    const call = `${value("CNI_COMMAND")} ${value("CNI_CONTAINERID")} ${value("CNI_IFNAME")} ${network}`;
    if (reply.status === 0) return [{ level: "debug", text: `${inertLine(call, maxLineChars)}: done in ${ms.toFixed(1)} ms\n` }];
    const { code, msg } = errorOf(reply.stdout);
    const line = withoutSecrets(inertLine(`${call}: failed with code ${code}: ${msg}`, maxLineChars));
    return [{ level: code === 999 ? "panic" : "error", text: `${line}\n` }];
  }

  #append(file: string, lines: readonly Line[]): string | undefined {
    if (lines.length === 0) return undefined;
    const now = this.#date().toISOString();
    const text = lines.map((line) => `${now} [${line.level}] ${line.text}`).join("");
    try {
      appendLines(file, text.slice(0, maxLogChars), { maxBytes: maxFileBytes, foreign: true, create: true });
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
    // The answer is not JSON: the error below replaces it.
  }
  return { code: 999, msg: "stdout has no CNI error object" };
}

/** The stderr of one plugin. */
export interface PluginOutput {
  readonly type: string;
  /** CNI_IFNAME; empty for GC and STATUS. */
  readonly ifname: string;
  readonly stderr: Uint8Array;
  /** Whether `stderr` is only the beginning of the plugin's output. */
  readonly truncated: boolean;
  /** Removes the secrets of the plugin's configuration. */
  readonly redact: Redact;
}

/** Maximum characters of all plugins' lines of one call. Warnings and delegates' lines must fit into the reply, too. */
const maxCallChars = 64 * 1024;

/** Makes the lines of one call's plugins, within one budget of characters. */
export class PluginLines {
  #left = maxCallChars;

  /** Whole lines, such as `bridge eth0: text`, without empty ones. A final line says if output was cut. */
  of({ type, ifname, stderr, truncated, redact }: PluginOutput): readonly string[] {
    if (stderr.length === 0 || this.#left < 0) return [];
    const front = ifname === "" ? type : `${type} ${ifname}`;
    const lines: string[] = [];
    // Before the text is divided: a secret may have several lines.
    for (const text of redact(new TextDecoder().decode(stderr), truncated).split(/\r?\n/)) {
      if (text === "") continue;
      const line = `${inertLine(`${front}: ${text}`, maxLineChars)}\n`;
      this.#left -= line.length;
      if (this.#left < 0)
        return [...lines, `plexus: the rest of this call's plugin output is cut (at most ${maxCallChars} characters)\n`];
      lines.push(line);
    }
    return truncated ? [...lines, inertLine(`${front}: … (cut after ${stderr.length} bytes)`, maxLineChars).concat("\n")] : lines;
  }
}

/** Maximum bytes of the trace file. A longer file takes no more lines until the administrator rotates it. */
const maxBytes = 64 * 1024 * 1024;

/** The subscriber that writes the file. `warn` receives the first failure to write. */
export function traceFile(path: string, date: () => Date, warn: (text: string) => void): Subscriber {
  let hasWarned = false;
  return {
    recordsSpans: true,
    receive(event) {
      if (event.what !== "step-ended") return;
      const { step, ms, outcome, span } = event;
      const line = {
        time: date().toISOString(),
        ...step,
        ms: Math.round(ms * 1000) / 1000,
        ...(span === undefined
          ? {}
          : { traceId: span.context.traceId, spanId: span.context.spanId, parentSpanId: span.parentId }),
        ...(outcome.ok ? { ok: true } : { ok: false, code: outcome.fault.code, msg: outcome.fault.msg }),
      };
      try {
        appendLines(path, `${JSON.stringify(line)}\n`, { maxBytes, foreign: false, create: true });
      } catch (error) {
        // A failed trace is only a warning: the pod keeps its network.
        if (!hasWarned) warn(`trace file: ${error instanceof Error ? error.message : String(error)}; steps are missing in it`);
        hasWarned = true;
      }
    },
  };
}
