// Internal calls: the daemon undoes attachments, or changes those of running pods, without a runtime's call. It makes a request as a runtime would, so
// that the same code reads it.

import { readEnvironment } from "../../../src/cni/environment.ts";
import { readPluginRequest } from "../../../src/cni/plugin-request.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { memberValue } from "../../../src/json/document.ts";
import { textOf } from "../../../src/text/inert-text.ts";
import type { Environment } from "../../protocol/fields.ts";
import type { Request } from "../../protocol/messages.ts";
import type { JournalPlan } from "../../store/journal/entry.ts";
import type { Call } from "../call.ts";
import { CallDeadline } from "../../../src/step-policy/call-deadline.ts";
import { readCallConfiguration } from "../call/read-configuration.ts";
import { openCall, type SessionParts } from "./open-call.ts";

/** The `CNI_*` variables of a DEL for this plan. `CNI_NETNS` is empty because the network namespace is gone. */
export function deletionOf(plan: JournalPlan): Environment {
  return new Map([
    ["CNI_COMMAND", "DEL"],
    ["CNI_CONTAINERID", plan.containerId],
    ["CNI_NETNS", ""],
    ["CNI_IFNAME", plan.ifname],
    ["CNI_ARGS", plan.cniArgs],
  ]);
}

/** The `CNI_*` variables of a call of this verb for a running container. */
export function callOfRunning(verb: "ADD" | "DEL", plan: JournalPlan): Environment {
  return new Map([...deletionOf(plan), ["CNI_COMMAND", verb], ["CNI_NETNS", plan.netns]]);
}

/** Opens an internal call, which must be a DEL or an ADD. Faults: those of reading a runtime's call; INTERNAL for another verb. */
export function openInternalCall(request: Request, parts: SessionParts): Result<Call> {
  const call = readEnvironment(request.environment);
  if (!call.ok) return call;
  const { verb } = call.value;
  if (verb !== "DEL" && verb !== "ADD")
    return failed(fault("INTERNAL", `an internal call must be a DEL or an ADD, this one is ${verb}`));
  const stdin = textOf(request.stdin, "network configuration");
  if (!stdin.ok) return stdin;
  const pluginRequest = readPluginRequest(verb, stdin.value);
  if (!pluginRequest.ok) return pluginRequest;
  // The agent looks in the directories of its own CNI_PATH, which need not begin with the configuration's `binDir` as a call's does.
  const path = memberValue(pluginRequest.value.document, "binDir");
  const configured = readCallConfiguration(
    { verb, path: typeof path === "string" ? path : call.value.path },
    pluginRequest.value.document,
  );
  if (!configured.ok) return configured;
  const { configuration } = configured.value;
  const deadline = new CallDeadline(verb, configuration.callTimeoutMs, 0, parts.node.clock.now);
  return ok(openCall(parts, request, call.value, { ...configured.value, deadline }));
}
