// plexusctl trace record: asks the daemon to record.

import { readRecordingQuery, recordingBounds, recordingQuery, type RecordingReport } from "../rules/recording-request.ts";
import { type CommandLineMistake, valueOf } from "../../../src/command-line/read-command-line.ts";
import { isJsonObject, parseDocument } from "../../../src/json/document.ts";
import { askDaemon } from "../../../host/node/command-line/ask-daemon.ts";
import { type CommandResult, failure, type Invocation } from "../../../host/node/command-line/command.ts";
import { notAbsolute, statusSocketOf } from "../../../host/node/command-line/common-options.ts";
import { printed } from "../../../host/node/command-line/printed.ts";
import { recordingText } from "./trace-text.ts";

/** Maximum wait for the daemon's answer, in ms. */
const timeoutMs = 5000;

/** Begins, ends or shows the daemon's recording. */
export async function recordTraces(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const mistake = notAbsolute(line, "status-socket");
  if (mistake !== undefined) return mistake;
  const query = queryOf(line);
  if ("wrong" in query) return query;
  const socketPath = statusSocketOf(line);
  const asked = await askDaemon({ socketPath, timeoutMs, ...query });
  if ("why" in asked) return failure(`trace record needs the daemon, but ${socketPath} gave no report: ${asked.why}`);
  const document = parseDocument(asked.body, { what: "the daemon's answer" });
  const report = document.ok ? document.value.parsed : undefined;
  if (!isReport(report))
    return failure("the daemon's answer has an unknown form: plexusctl and the daemon must be of one release");
  const stdout = await printed(
    { value: report, text: (width) => recordingText(report, width), names: () => report.written },
    line,
  );
  return { stdout, status: 0 };
}

function queryOf(line: Invocation): { readonly method: "GET" | "POST"; readonly path: string } | CommandLineMistake {
  const { flags } = line;
  const isOther = flags.has("stop") || flags.has("show");
  const named =
    ["next", "for", "pod"].find((name) => valueOf(line, name) !== undefined) ?? (flags.has("failed") ? "failed" : undefined);
  if (isOther && named !== undefined) return { wrong: `--${named}: goes neither with --stop nor with --show` };
  if (flags.has("show")) return { method: "GET", path: "/record" };
  if (flags.has("stop")) return { method: "POST", path: "/record?stop" };
  const { next, seconds } = recordingBounds;
  const [count, duration] = [valueOf(line, "next") ?? String(next), valueOf(line, "for") ?? String(seconds)];
  const pod = valueOf(line, "pod");
  const text = [
    `next=${count}`,
    `seconds=${duration}`,
    ...(flags.has("failed") ? ["failed"] : []),
    ...(pod === undefined ? [] : [`pod=${pod}`]),
  ];
  const request = readRecordingQuery(text.join("&"));
  if (typeof request === "string") return { wrong: request.replace(/^(next|pod) /, "--$1 ").replace(/^seconds /, "--for ") };
  return { method: "POST", path: `/record?${recordingQuery(request)}` };
}

function isReport(value: unknown): value is RecordingReport {
  return isJsonObject(value) && typeof value["directory"] === "string" && Array.isArray(value["written"]);
}
