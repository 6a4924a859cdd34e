// A step as a native CNI plugin: executed by the hands, its end read by libcni's rules (L-09 to L-12).

import type { constants } from "node:os";
import type { ChainStep, StepOutcome } from "../../src/cni/chain-step.ts";
import { readPluginFailure } from "../../src/cni/error-json.ts";
import { type Fault, fault } from "../../src/fault/fault.ts";
import type { ExecEffect, Hands } from "../hands/hands.ts";
import type { Executed } from "../hands/messages.ts";
import { notFound } from "./plugin-finder.ts";
import { inertLine, inertText } from "../sandbox/inert-text.ts";
import { textOf } from "./utf8.ts";

/** Bytes of a plugin's stdout that are kept: far above any result. */
const stdoutCap = 4 * 1024 * 1024;
const stderrCap = 64 * 1024;
/** Between tries of a plugin that is being written, and how many there are. */
const busyMs = 1000;
const mostTries = 6;
const longestMessage = 8 * 1024;
const longestDetails = 128 * 1024;

export interface NativeStepInit {
  /** Milliseconds, and whose time they are: the step's own, or what is left of the call's. */
  readonly deadlineMs: number;
  readonly ofCall?: boolean;
  /** Directory for the nested calls of this step (PROTOCOL.md). */
  readonly nest: string;
  /** GOMAXPROCS where the runtime sets none; 0: none. */
  readonly goMaxProcs: number;
}

export async function runNativeStep(
  hands: Pick<Hands, "exec">,
  step: ChainStep,
  { deadlineMs, ofCall = false, nest, goMaxProcs }: NativeStepInit,
): Promise<StepOutcome> {
  const environment = new Map(step.env);
  if (goMaxProcs !== 0 && !environment.has("GOMAXPROCS")) environment.set("GOMAXPROCS", String(goMaxProcs));
  const type = step.plugin.type;
  const effect = { type, environment, stdin: step.stdin, deadlineMs, stdoutCap, stderrCap, nest };
  const executed = await execute(hands, effect);
  const { outcome } = executed;
  if (outcome.kind === "exited" && outcome.status === 0) {
    // Of the others' answers nobody reads a word (CNI section 2): a DEL that succeeded must not fail for what it printed.
    if (step.verb !== "ADD" && step.verb !== "VERSION") return { ok: true, stdout: "" };
    if (executed.stdoutTruncated) {
      return no(fault("RESULT_INVALID", `result: plugin ${type} printed more than ${stdoutCap} bytes`));
    }
    const stdout = textOf(executed.stdout, `result: what plugin ${type} printed`, "RESULT_INVALID");
    return stdout.ok ? { ok: true, stdout: stdout.value } : stdout;
  }
  const late =
    executed.outcome.kind === "deadline-passed" && ofCall
      ? fault(
          "CALL_TIMEOUT",
          `plugin ${executed.path} did not end in what the call had left for it, ${deadlineMs} ms, and was killed`,
        )
      : undefined;
  const failure = late ?? failureOf(executed, { type, deadlineMs, path: environment.get("CNI_PATH") ?? "", nest });
  // A plugin's words end in logs and terminals: nothing in them may act there.
  const details = failure.details === undefined ? {} : { details: inertText(failure.details, longestDetails) };
  return no({ ...failure, msg: inertLine(failure.msg, longestMessage), ...details });
}

/** Executes it, again and again while its file is open for writing: then it is being installed (L-10). */
async function execute(hands: Pick<Hands, "exec">, effect: ExecEffect): Promise<Executed> {
  const due = performance.now() + effect.deadlineMs;
  for (let tries = 1; ; tries++) {
    const executed = await hands.exec({ ...effect, deadlineMs: Math.max(0, Math.ceil(due - performance.now())) });
    const busy = executed.outcome.kind === "text-busy" && tries < mostTries;
    if (!busy || due - performance.now() < busyMs) return executed;
    const { setTimeout } = process.getBuiltinModule("node:timers/promises");
    await setTimeout(busyMs);
  }
}

interface Called {
  readonly type: string;
  readonly deadlineMs: number;
  /** CNI_PATH. */
  readonly path: string;
  readonly nest: string;
}

function failureOf(executed: Executed, { type, deadlineMs, path, nest }: Called): Fault {
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
      if (nest !== "" && executed.path === nest) return nestFault(type, nest, outcome.errno);
      // Hands that run as many as they can name none.
      return notStartable(executed.path === "" ? type : executed.path, outcome.errno);
    case "text-busy":
      return fault("PLUGIN_NOT_STARTABLE", `plugin ${executed.path} was being written (ETXTBSY) at each attempt`);
    default:
      return outcome satisfies never;
  }
}

/** The hands name what they could not make. */
function nestFault(type: string, nest: string, errno: number): Fault {
  if (errnoName(errno) === "ENOTEMPTY") {
    const why = `${nest}, made anew for its calls of other plugins, holds what isn't Plexus'`;
    return fault("NEST_OCCUPIED", `plugin ${type} was not started: ${why}`);
  }
  const why = `making ${nest} for its calls of other plugins: ${errnoWords(errno)}`;
  return fault("STORE_FAILED", `plugin ${type} was not started: ${why}`);
}

function notStartable(path: string, errno: number): Fault {
  return fault("PLUGIN_NOT_STARTABLE", `plugin ${path} could not be started: ${errnoWords(errno)}`);
}

/** `EACCES, permission denied`. */
function errnoWords(errno: number): string {
  const [name, words] = process.getBuiltinModule("node:util").getSystemErrorMap().get(-errno) ?? [errnoName(errno), ""];
  return words === "" ? name : `${name}, ${words}`;
}

function no(reason: Fault): StepOutcome {
  return { ok: false, fault: reason };
}

// Asked for when needed: loading node:os takes time that the common path has no use for.
function systemConstants(): typeof constants {
  return process.getBuiltinModule("node:os").constants;
}

function signalName(signal: number): string {
  return Object.entries(systemConstants().signals).find(([, number]) => number === signal)?.[0] ?? String(signal);
}

function errnoName(errno: number): string {
  return Object.entries(systemConstants().errno).find(([, number]) => number === errno)?.[0] ?? `errno ${errno}`;
}
