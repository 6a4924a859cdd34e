// A step as a native CNI plugin: executed by the hands, its end read by libcni's rules (L-09 to L-12).

import type { constants } from "node:os";
import type { ChainStep, StepOutcome } from "../../src/cni/chain-step.ts";
import { readPluginFailure } from "../../src/cni/error-json.ts";
import { type Fault, fault } from "../../src/fault/fault.ts";
import type { Hands } from "../hands/hands.ts";
import type { Executed } from "../hands/messages.ts";

/** Bytes of a plugin's stdout that are kept: far above any result. */
const stdoutCap = 4 * 1024 * 1024;
const stderrCap = 64 * 1024;

export interface NativeStepInit {
  readonly deadlineMs: number;
  /** Directory for the nested calls of this step (PROTOCOL.md). */
  readonly nest: string;
}

export async function runNativeStep(hands: Hands, step: ChainStep, { deadlineMs, nest }: NativeStepInit): Promise<StepOutcome> {
  const environment = new Map(step.env);
  const type = step.plugin.type;
  const executed = await hands.exec({ type, environment, stdin: step.stdin, deadlineMs, stdoutCap, stderrCap, nest });
  const stdout = Buffer.from(executed.stdout).toString("utf8");
  const { outcome } = executed;
  if (outcome.kind === "exited" && outcome.status === 0) {
    if (!executed.stdoutTruncated) return { ok: true, stdout };
    return no(fault("PLUGIN_FAILED", `plugin ${type} printed more than ${stdoutCap} bytes; no CNI result is that long`));
  }
  return no(failureOf(type, executed, stdout, deadlineMs, environment.get("CNI_PATH") ?? ""));
}

function failureOf(type: string, executed: Executed, stdout: string, deadlineMs: number, path: string): Fault {
  const { outcome } = executed;
  switch (outcome.kind) {
    case "exited":
    case "signalled": {
      const ended = outcome.kind === "exited" ? `exit status ${outcome.status}` : `signal: ${signalName(outcome.signal)}`;
      return readPluginFailure({ ended, stdout, stderr: Buffer.from(executed.stderr).toString("utf8") });
    }
    case "deadline-passed":
      return fault("PLUGIN_TIMEOUT", `plugin ${executed.path} did not end within ${deadlineMs} ms and was killed`);
    case "not-found":
      return notFound(type, path);
    case "not-startable":
      return fault("PLUGIN_NOT_STARTABLE", `plugin ${executed.path} could not be started: ${errnoName(outcome.errno)}`);
    case "text-busy":
      return fault("PLUGIN_NOT_STARTABLE", `plugin ${executed.path} was being written (ETXTBSY) at each of six attempts`);
    default:
      return outcome satisfies never;
  }
}

/** The fault of a type that no directory of CNI_PATH has. */
export function notFound(type: string, path: string): Fault {
  const places = path === "" ? "CNI_PATH is empty" : `looked for ${type} and ${type}.wasm in ${path.split(":").join(", ")}`;
  return fault("PLUGIN_NOT_FOUND", `failed to find plugin "${type}": ${places}`);
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
