// What the brain does on its own (reconciling) has no call, but works with all that a call has: it is read as a call is.

import { readEnvironment } from "../../src/cni/environment.ts";
import { readPluginRequest } from "../../src/cni/plugin-request.ts";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import type { Environment } from "../hands/fields.ts";
import type { Request } from "../hands/messages.ts";
import type { JournalPlan } from "../journal/entry.ts";
import { type BrainDeps, type CallInProgress, contextOf } from "./answer.ts";
import type { CallContext } from "./call-context.ts";
import { CallDeadline } from "./call-deadline.ts";
import { readCallConfiguration } from "./read-configuration.ts";
import { textOf } from "./utf8.ts";

/** The variables of the DEL that a runtime would send for what was planned, of which it says that the namespace is gone. */
export function deletionOf(plan: JournalPlan): Environment {
  return new Map([
    ["CNI_COMMAND", "DEL"],
    ["CNI_CONTAINERID", plan.containerId],
    ["CNI_NETNS", ""],
    ["CNI_IFNAME", plan.ifname],
    ["CNI_ARGS", plan.cniArgs],
  ]);
}

/** Reads such a request. Faults: those of reading a call. */
export function openOwnCall(request: Request, deps: BrainDeps, progress: CallInProgress): Result<CallContext> {
  const call = readEnvironment(request.environment);
  if (!call.ok) return call;
  const { verb } = call.value;
  if (verb !== "DEL") return failed(fault("INTERNAL", `${verb} is not what a brain does on its own`));
  const stdin = textOf(request.stdin, "network configuration");
  if (!stdin.ok) return stdin;
  const own = readPluginRequest(verb, stdin.value);
  if (!own.ok) return own;
  const configured = readCallConfiguration(call.value, own.value.document);
  if (!configured.ok) return configured;
  const { configuration } = configured.value;
  progress.configuration = configuration;
  const deadline = new CallDeadline({ verb, callTimeoutMs: configuration.callTimeoutMs, waitedMs: 0, now: deps.now });
  return ok(contextOf(request, call.value, { ...configured.value, deadline }, deps));
}
