// Serves one call of the runtime: reads the request, takes the locks, runs the verb, and prints the result or the error (CNI section 5).

import { deletionError } from "../../../src/cni/deletion-error.ts";
import { readEnvironment } from "../../../src/cni/environment.ts";
import { printError } from "../../../src/cni/error-json.ts";
import { needingDeletion } from "../../../src/cni/needing-deletion.ts";
import { versionForError } from "../../../src/cni/plugin-request.ts";
import { printVersionAnswer } from "../../../src/cni/version-answer.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import { lenientText, textOf } from "../../../src/text/inert-text.ts";
import { searchTimeMs } from "../../protocol/engine-variables.ts";
import type { CallAnswer, Request } from "../../protocol/messages.ts";
import { type Call, journalKey } from "../call.ts";
import { CallDeadline } from "../../../src/step-policy/call-deadline.ts";
import type { Release } from "../call/call-locks.ts";
import { readRequest } from "../call/read-configuration.ts";
import { waitUntilReady } from "../plan/default-network.ts";
import { requirePlugins } from "../plan/require-plugins.ts";
import { linksOf } from "../record/record-add.ts";
import { add } from "../verbs/add.ts";
import { check } from "../verbs/check.ts";
import { del } from "../verbs/del.ts";
import { gc } from "../verbs/gc.ts";
import { status } from "../verbs/status.ts";
import { openCall, type SessionParts } from "./open-call.ts";

/** The functions by which a session learns of its call while the call is served. */
export interface ServedCall {
  /** The configuration is read. It may be refused for its time, and then has no call. */
  readonly configured: (configuration: HostConfiguration) => void;
  /** The call is open: its nested calls share its configuration and the plugins found so far. Answers when its chain trace has begun. */
  readonly opened: (call: Call, stdin: string) => Promise<void> | undefined;
  /** The call failed with this fault. */
  readonly failed: (reason: Fault) => void;
}

/**
 * Serves one call and returns the reply. `waitedMs`: milliseconds since the shim's request. A bad request is answered with an
 * error; ShimGone and defects are thrown.
 */
export async function serveCall(
  request: Request,
  parts: SessionParts,
  served: ServedCall,
  waitedMs: number,
): Promise<CallAnswer> {
  const refusal = (reason: Fault, cniVersion = versionForError(lenientText(request.stdin))): CallAnswer => {
    served.failed(reason);
    return { status: 1, stdout: printError(reason, cniVersion), stderr: "" };
  };
  const variables = readEnvironment(request.environment);
  if (!variables.ok) return refusal(variables.fault);
  const { verb } = variables.value;
  if (verb === "VERSION") return { status: 0, stdout: printVersionAnswer(), stderr: "" };
  const stdin = textOf(request.stdin, "network configuration on stdin");
  if (!stdin.ok) return refusal(stdin.fault);
  const read = readRequest(verb, variables.value.path, stdin.value);
  if (!read.ok) return refusal(read.fault);
  const { pluginRequest, configured } = read.value;
  const { cniVersion } = pluginRequest;
  if (!configured.ok) return refusal(configured.fault, cniVersion);
  const { configuration } = configured.value;
  served.configured(configuration);
  for (const warning of [...(verb === "ADD" ? configuration.notices : []), ...configuration.warnings]) parts.events.warn(warning);
  const { callTimeoutMs } = configuration;
  const beforeMs = searchTimeMs(request.environment) + waitedMs;
  const deadline = new CallDeadline(verb, callTimeoutMs, beforeMs, parts.node.clock.now);
  if (deadline.stepMs === 0) {
    const why = `the call waited ${Math.round(beforeMs)} ms for an engine, and may take ${deadline.totalMs} ms in all`;
    return refusal(fault("CALL_TIMEOUT", why), cniVersion);
  }
  const call = openCall(parts, request, variables.value, { ...configured.value, deadline });
  const recording = served.opened(call, stdin.value);
  if (recording !== undefined) await recording;
  const result = await runVerb(call);
  if (result.ok) return { status: 0, stdout: result.value, stderr: "" };
  return refusal(verb === "DEL" ? deletionError(needingDeletion(result.fault)) : result.fault, cniVersion);
}

async function runVerb(call: Call): Promise<Result<string>> {
  const { verb } = call.request;
  // Before the container's lock: its DEL must not wait for an ADD that waits for the default network.
  const ready = await waitUntilReady(call);
  if (!ready.ok) return ready;
  const held = await lockFor(call);
  if (held?.ok === false) return held;
  try {
    switch (verb) {
      case "ADD":
        return await addText(call);
      case "DEL":
        return emptyStdout(await del(call));
      case "CHECK":
        return emptyStdout(await check(call));
      case "STATUS":
        return emptyStdout(await status(call));
      default:
        return emptyStdout(await gc(call));
    }
  } finally {
    held?.value();
  }
}

/** The container's lock for ADD, DEL and CHECK. GC takes its locks itself. STATUS changes nothing, so it needs no lock. */
async function lockFor(call: Call): Promise<Result<Release> | undefined> {
  const { verb } = call.request;
  return verb === "GC" || verb === "STATUS" ? undefined : call.locks.container(journalKey(call));
}

async function addText(call: Call): Promise<Result<string>> {
  // Loaded by an ADD only: every other verb of a one-shot engine starts without the planner.
  const { planCall } = await import("../plan/plan-call.ts");
  // Sent together with the look-ups of plugins: each further send would wake the shim and the engine once more.
  let linksAsked: ReturnType<typeof linksOf> | undefined;
  const linksBefore = (): ReturnType<typeof linksOf> => (linksAsked ??= linksOf(call.shim, call.request.netns));
  const plan = await planCall(call, linksBefore);
  if (!plan.ok) return plan;
  const required = requirePlugins(call, plan.value.attachments);
  // `add` awaits `required` and so handles its rejection. This handler only prevents an unhandled rejection until then.
  required.catch(() => undefined);
  const before = linksBefore();
  before.catch(() => undefined);
  const added = await add(call, plan.value, required, before);
  return added.ok ? ok(added.value.text) : added;
}

function emptyStdout(result: Result<void>): Result<string> {
  return result.ok ? ok("") : result;
}
