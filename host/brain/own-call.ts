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
import { readCallConfiguration } from "./read-configuration.ts";
import { textOf } from "./utf8.ts";

/**
 * The DEL that a runtime would send for what was planned, of which it says that the namespace is gone. `inherited` is the
 * environment of the hands that carry it out, whose CNI_PATH it has.
 */
export function deletionOf(plan: JournalPlan, stdin: string, inherited: Environment): Request {
  const environment = new Map([
    ...[...inherited].filter(([name]) => !name.startsWith("CNI_")),
    ["CNI_COMMAND", "DEL"] as const,
    ["CNI_CONTAINERID", plan.containerId] as const,
    ["CNI_NETNS", ""] as const,
    ["CNI_IFNAME", plan.ifname] as const,
    ["CNI_ARGS", plan.cniArgs] as const,
    ["CNI_PATH", inherited.get("CNI_PATH") ?? ""] as const,
  ]);
  return { kind: "request", name: "plexus", environment, stdin: Buffer.from(stdin), under: 0, executable: "" };
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
  progress.configuration = configured.value.configuration;
  return ok(contextOf(request, call.value, configured.value, deps));
}
