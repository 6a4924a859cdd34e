// Runs a step as a native CNI plugin: the shim executes the plugin, and libcni's rules decide how it ended (L-09 to L-12).

import { constants } from "node:os";
import { setTimeout } from "node:timers/promises";
import type { NativeRecord } from "../../../src/chain-trace/chain-trace.ts";
import type { ChainStep, StepOutcome } from "../../../src/cni/chain-step.ts";
import { readPluginFailure } from "../../../src/cni/error-json.ts";
import { type Fault, fault, neverBegun } from "../../../src/fault/fault.ts";
import { inertLine, inertText, textOf } from "../../../src/text/inert-text.ts";
import { redactorOf } from "../../../src/text/secret-values.ts";
import type { Step } from "../../capabilities/step.ts";
import { engineVariables, goProcessors } from "../../protocol/engine-variables.ts";
import type { Executed } from "../../protocol/messages.ts";
import type { ExecEffect, Shim } from "../../protocol/shim.ts";
import type { Clock } from "../../system/clock.ts";
import { EACCES, EINVAL, EKEYREJECTED, ELIBBAD, ELOOP, ENOENT, ENOEXEC, ENOTDIR, ENOTEMPTY, EPERM } from "../../system/errno.ts";
import { systemError } from "../../system/system-error.ts";
import type { Call } from "../call.ts";
import { notFound } from "../call/plugin-finder.ts";

/** Maximum bytes of a plugin's stdout and of its stderr. A result is far smaller. */
const stdoutCap = 4 * 1024 * 1024;
const stderrCap = 64 * 1024;
/** Milliseconds between tries, and the number of tries, for a plugin whose file is open for writing (ETXTBSY). */
const pauseMs = 1000;
const maxTries = 6;
/** Errors of execve(2) that the plugin's file causes: the next try fails, too. */
const lastingErrors: ReadonlySet<number> = new Set([
  EPERM,
  ENOENT,
  ENOEXEC,
  EACCES,
  ENOTDIR,
  EINVAL,
  ELOOP,
  ELIBBAD,
  EKEYREJECTED,
]);
const maxMessageCharacters = 8 * 1024;
const maxDetailsCharacters = 128 * 1024;

/**
 * Executes the native plugin for one step. Faults: PLUGIN_NOT_FOUND, PLUGIN_NOT_STARTABLE, PLUGIN_TIMEOUT, CALL_TIMEOUT,
 * RESULT_INVALID, NESTED_CALL_DIRECTORY_OCCUPIED, STORE_FAILED, and the plugin's own.
 */
export async function runNativeStep(
  { shim, configuration: { goMaxProcs }, nestedCallDirectory, output, clock }: Call,
  { step, timeoutMs, maxMs, tell }: Step,
): Promise<StepOutcome> {
  const deadlineMs = Math.min(timeoutMs, maxMs);
  const environment = engineVariables(step.env);
  if (goMaxProcs !== 0 && !environment.has(goProcessors)) environment.set(goProcessors, String(goMaxProcs));
  const type = step.plugin.type;
  const path = new Map(step.env).get("CNI_PATH") ?? "";
  const effect = { type, environment, stdin: step.stdin, deadlineMs, stdoutCap, stderrCap, nestedCallDirectory };
  const executed = await execute(shim, clock, effect);
  const { outcome } = executed;
  tell?.({ what: "process-ended", native: nativeRecord(executed) });
  const succeeded = outcome.kind === "exited" && outcome.status === 0;
  // The stderr of a failing plugin is in the error's details; a plugin that was killed at its deadline prints no error, so its stderr
  // goes to the log. VERSION is a probe by Plexus, whose output is of no interest.
  if ((succeeded || outcome.kind === "deadline-passed") && executed.stderr.length > 0 && step.verb !== "VERSION") {
    const ifname = step.attachment?.ifname ?? "";
    output({ type, ifname, stderr: executed.stderr, truncated: executed.stderrTruncated, redact: redactorOf(step) });
  }
  if (succeeded) return answerOf(step, executed);
  const isCallLate = outcome.kind === "deadline-passed" && maxMs < timeoutMs;
  const reason = isCallLate
    ? callTimeout(executed.path, deadlineMs)
    : failureOf(executed, { type, deadlineMs, path, nestedCallDirectory });
  return failedStep(inertFault(reason));
}

/** The outcome of a plugin that exited 0. Fault RESULT_INVALID. */
function answerOf({ verb, plugin: { type } }: ChainStep, { stdout, stdoutTruncated }: Executed): StepOutcome {
  // Other verbs have no output (CNI section 2). A successful DEL must not fail because it printed something.
  if (verb !== "ADD" && verb !== "VERSION") return { ok: true, stdout: "" };
  if (stdoutTruncated) return failedStep(fault("RESULT_INVALID", `result: plugin ${type} printed more than ${stdoutCap} bytes`));
  const text = textOf(stdout, `result: stdout of plugin ${type}`, "RESULT_INVALID");
  return text.ok ? { ok: true, stdout: text.value } : text;
}

function callTimeout(path: string, deadlineMs: number): Fault {
  const why = `plugin ${path} did not end within the call's remaining time, ${deadlineMs} ms, and was killed`;
  return fault("CALL_TIMEOUT", why);
}

/** A plugin's text reaches logs and terminals, so control characters in it must have no effect there. */
function inertFault(reason: Fault): Fault {
  const details = reason.details === undefined ? {} : { details: inertText(reason.details, maxDetailsCharacters) };
  return { ...reason, msg: inertLine(reason.msg, maxMessageCharacters), ...details };
}

/** The end of the process, for the chain trace. */
function nativeRecord({ path, outcome, stderr, stderrTruncated }: Executed): NativeRecord {
  const text = new TextDecoder().decode(stderr);
  return { path, exit: exitOf(outcome), stderr: stderrTruncated ? `${text}…` : text };
}

function exitOf(outcome: Executed["outcome"]): string {
  switch (outcome.kind) {
    case "exited":
      return `exit status ${outcome.status}`;
    case "signalled":
      return `signal ${signalName(outcome.signal)}`;
    default:
      return outcome.kind.replaceAll("-", " ");
  }
}

/** Executes the plugin; tries again while the file is open for writing, because it is being installed (L-10). */
async function execute(shim: Shim, { now }: Clock, effect: ExecEffect): Promise<Executed> {
  const due = now() + effect.deadlineMs;
  for (let tries = 1; ; tries++) {
    const executed = await shim.exec({ ...effect, deadlineMs: Math.max(0, Math.ceil(due - now())) });
    const busy = executed.outcome.kind === "text-busy" && tries < maxTries;
    if (!busy || due - now() < pauseMs) return executed;
    await setTimeout(pauseMs);
  }
}

interface Execution {
  readonly type: string;
  readonly deadlineMs: number;
  /** CNI_PATH. */
  readonly path: string;
  readonly nestedCallDirectory: string;
}

function failureOf(executed: Executed, { type, deadlineMs, path, nestedCallDirectory }: Execution): Fault {
  const { outcome } = executed;
  switch (outcome.kind) {
    case "exited":
    case "signalled": {
      const ended = outcome.kind === "exited" ? `exit status ${outcome.status}` : `signal: ${signalName(outcome.signal)}`;
      const [stdout, stderr] = [executed.stdout, executed.stderr].map((bytes) => Buffer.from(bytes).toString("utf8"));
      return readPluginFailure({ ended, stdout: stdout ?? "", stderr: stderr ?? "" });
    }
    case "deadline-passed":
      return fault("PLUGIN_TIMEOUT", `plugin ${executed.path} did not end within ${deadlineMs} ms and was killed`);
    case "not-found":
      return notFound(type, path, "");
    case "not-startable":
      if (nestedCallDirectory !== "" && executed.path.endsWith(`/${nestedCallDirectory}`))
        return nestedCallDirectoryFault(type, executed.path, outcome.errno);
      // A shim that already runs its maximum of plugins names no path.
      return notStartable(executed.path === "" ? type : executed.path, outcome.errno);
    case "text-busy":
      return fault("PLUGIN_NOT_STARTABLE", `plugin ${executed.path} was being written (ETXTBSY) at each attempt`);
    default:
      return outcome satisfies never;
  }
}

/** The fault of a nested-call directory that the shim could not make. */
function nestedCallDirectoryFault(type: string, nestedCallDirectory: string, errno: number): Fault {
  if (errno === ENOTEMPTY) {
    const why = `its nested-call directory ${nestedCallDirectory} must be empty, but contains files that are not Plexus'; remove them`;
    return fault("NESTED_CALL_DIRECTORY_OCCUPIED", `plugin ${type} was not started: ${why}`);
  }
  const needs = errno === EPERM ? "; the shim needs CAP_SYS_ADMIN in its user namespace, as native plugins do" : "";
  const why = `creating its nested-call directory ${nestedCallDirectory}: ${systemError(errno)}${needs}`;
  return fault("STORE_FAILED", `plugin ${type} was not started: ${why}`);
}

function notStartable(path: string, errno: number): Fault {
  // The shim has found the file itself.
  const why =
    errno === ENOENT ? `the interpreter that its first line or its ELF header names does not exist` : systemError(errno);
  const reason = fault("PLUGIN_NOT_STARTABLE", `plugin ${path} could not be started: ${why}`);
  return lastingErrors.has(errno) ? neverBegun(reason) : reason;
}

function failedStep(reason: Fault): StepOutcome {
  return { ok: false, fault: reason };
}

function signalName(signal: number): string {
  return Object.entries(constants.signals).find(([, number]) => number === signal)?.[0] ?? String(signal);
}
