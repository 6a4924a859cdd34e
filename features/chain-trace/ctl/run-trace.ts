// plexusctl trace: each command and what it prints.

import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ChainTrace } from "../../../src/chain-trace/chain-trace.ts";
import { maxTraceLength, readChainTrace } from "../../../src/chain-trace/read-chain-trace.ts";
import { allSteps } from "../../../src/chain-trace/step-record.ts";
import { traceDifferences } from "../rules/trace-differences.ts";
import { type CommandLineMistake, valueOf } from "../../../src/command-line/read-command-line.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { storeFault } from "../../../host/store/files/durable-file.ts";
import { readRegularFile } from "../../../host/store/files/regular-file.ts";
import { listTraces } from "../../../host/store/traces/trace-directory.ts";
import { type CommandResult, failure, type Invocation } from "../../../host/node/command-line/command.ts";
import { printed } from "../../../host/node/command-line/printed.ts";
import { recordTraces } from "./record-traces.ts";
import { differencesText, listText, replayText, traceText } from "./trace-text.ts";

const defaultDirectory = "/var/lib/cni/plexus/traces";

/** Runs a command of `plexusctl trace`. */
export async function runTrace(command: string, line: Invocation): Promise<CommandResult | CommandLineMistake> {
  switch (command) {
    case "record":
      return recordTraces(line);
    case "list":
      return list(line);
    case "show":
      return show(line);
    case "diff":
      return diff(line);
    default:
      return replay(line);
  }
}

function directoryOf(line: Invocation): string {
  return valueOf(line, "directory") ?? defaultDirectory;
}

async function list(line: Invocation): Promise<CommandResult> {
  const directory = directoryOf(line);
  const files = listTraces(directory);
  if (!files.ok) return failure(files.fault.msg);
  const paths = files.value.map(({ name, bytes }) => ({ path: join(directory, name), bytes }));
  const stdout = await printed(
    { value: paths, text: (width) => listText(directory, files.value, width), names: () => paths.map(({ path }) => path) },
    line,
  );
  return { stdout, status: 0 };
}

async function show(line: Invocation): Promise<CommandResult> {
  const path = line.args[0] === undefined ? newestIn(directoryOf(line)) : ok(line.args[0]);
  if (!path.ok) return failure(path.fault.msg);
  if (path.value === undefined)
    return failure(`${directoryOf(line)} has no trace; plexusctl trace record makes the daemon write some`);
  const trace = readTrace(path.value);
  if (!trace.ok) return failure(trace.fault.msg);
  const { value } = trace;
  const stdout = await printed(
    { value, text: (width) => traceText(value, width), names: () => allSteps(value.steps).map(({ type }) => type) },
    line,
  );
  return { stdout, status: 0 };
}

async function diff(line: Invocation): Promise<CommandResult> {
  const [one = "", other = ""] = line.args;
  const [before, after] = [readTrace(one), readTrace(other)];
  if (!before.ok) return failure(before.fault.msg);
  if (!after.ok) return failure(after.fault.msg);
  const differences = traceDifferences(before.value, after.value);
  const stdout = await printed(
    {
      value: differences,
      text: (width) => differencesText(differences, width),
      names: () => differences.map(({ step }) => step),
    },
    line,
  );
  return { stdout, status: differences.length === 0 ? 0 : 1 };
}

async function replay(line: Invocation): Promise<CommandResult> {
  const trace = readTrace(line.args[0] ?? "");
  if (!trace.ok) return failure(trace.fault.msg);
  const { openReplaySandbox } = await import("../replay/replay-sandbox.ts");
  const { replayTrace } = await import("../replay/replay-trace.ts");
  const sandbox = openReplaySandbox(dirname(realpathSync(process.argv[1] ?? "")));
  try {
    const report = await replayTrace(trace.value, sandbox, valueOf(line, "components"));
    const differing = report.steps.filter(({ status }) => status === "differs" || status === "impossible");
    const stdout = await printed(
      { value: report, text: (width) => replayText(report, width), names: () => differing.map(({ type }) => type) },
      line,
    );
    return { stdout, status: report.identical ? 0 : 1 };
  } finally {
    await sandbox.close();
  }
}

/** The path of the newest trace; undefined without one. Fault STORE_FAILED. */
function newestIn(directory: string): Result<string | undefined> {
  const files = listTraces(directory);
  if (!files.ok) return files;
  const [newest] = files.value;
  return ok(newest === undefined ? undefined : join(directory, newest.name));
}

function readTrace(path: string): Result<ChainTrace> {
  try {
    // A trace may come from another node, and from any user.
    return readChainTrace(readRegularFile(path, { maxBytes: maxTraceLength, foreign: true }), path);
  } catch (error) {
    const { msg } = storeFault("reading", path, error);
    return failed(fault("TRACE_INVALID", msg));
  }
}
