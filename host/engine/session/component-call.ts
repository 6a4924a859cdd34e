// Calls of the shim under a component's name. Nested calls: a native plugin calls another plugin, such as its `ipam.type`; the engine serves it within
// the call of the native plugin, with the same grants and journal entry. Direct calls: a runtime calls a component as a CNI plugin of its own.

import type { RunStep } from "../../../src/cni/chains.ts";
import type { CniCall } from "../../../src/cni/environment.ts";
import { printError } from "../../../src/cni/error-json.ts";
import { type PluginCall, versionForError, pluginStep } from "../../../src/cni/plugin-request.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { readHostConfiguration } from "../../../src/configuration/read-host-configuration.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { parseDocument } from "../../../src/json/document.ts";
import { quote } from "../../../src/json/quote.ts";
import { lenientText } from "../../../src/text/inert-text.ts";
import type { CallAnswer, Request } from "../../protocol/messages.ts";
import type { Call, ChainIdentity } from "../call.ts";
import { CallDeadline } from "../../../src/step-policy/call-deadline.ts";
import { nestedCallDirectoryIn, PluginFinder } from "../call/plugin-finder.ts";
import { stepRunner } from "../steps/step-runner.ts";
import { openCall, type SessionParts } from "./open-call.ts";

/** The configuration of a direct call, which has none of Plexus' own: all defaults. A configuration must name a network, which a direct call never attaches. */
const noConfiguration = '{"name":"direct","clusterNetwork":"direct"}';

let bare: HostConfiguration | undefined;

/** The settings for a component that a runtime calls directly: the defaults, without a grant beyond them. */
export function bareConfiguration(): HostConfiguration {
  if (bare !== undefined) return bare;
  const read = readHostConfiguration(JSON.parse(noConfiguration));
  if (!read.ok) throw new Error(read.fault.msg);
  bare = read.value;
  return bare;
}

/** Answers a nested call within its call. It has no deadline: the native plugin that made it has its own. */
export function runNested(request: Request, parts: SessionParts, within: Call | undefined): Promise<CallAnswer> {
  return answerAsPlugin(request, (network, ifname, asked) => {
    const surrounding = within ?? openDirect(request, parts, asked);
    const { shim, clock, chains, configuration } = surrounding;
    const call: Call = {
      ...surrounding,
      plugins: new PluginFinder(shim, true, within?.plugins),
      deadline: withoutDeadline(clock.now),
      componentsOnly: true,
      nestedCallDirectory: nestedCallDirectoryIn(request.environment),
    };
    const chain = nestedChain(chains, network, ifname);
    if (!chain.ok) return chain;
    return ok(stepRunner(call, chain.value, { origin: "nested-call", timeoutMs: configuration.stepTimeoutMs }));
  });
}

/** Answers a runtime's direct call of a component, which counts as a chain of one step. */
export function runDirect(request: Request, parts: SessionParts): Promise<CallAnswer> {
  return answerAsPlugin(request, (network, ifname, asked) => {
    const opened = openDirect(request, parts, asked);
    const call = { ...opened, plugins: new PluginFinder(parts.shim, true), componentsOnly: true, nestedCallDirectory: "" };
    return ok(stepRunner(call, { network, ifname }, { origin: "chain", timeoutMs: call.configuration.stepTimeoutMs }));
  });
}

function openDirect(request: Request, parts: SessionParts, asked: CniCall): Call {
  const document = parseDocument(noConfiguration, { what: "configuration" });
  if (!document.ok) throw new Error(document.fault.msg);
  const deadline = withoutDeadline(parts.node.clock.now);
  return openCall(parts, request, asked, { document: document.value, configuration: bareConfiguration(), deadline });
}

/** The deadline of a call that only the time-outs of its steps bound, as those of STATUS. */
function withoutDeadline(now: () => number): CallDeadline {
  return new CallDeadline("STATUS", 0, 0, now);
}

/** Runs the component that the request names as a CNI plugin. `runner` makes the step's runner for its network and interface, and the request's variables. */
export async function answerAsPlugin(
  request: PluginCall,
  runner: (network: string, ifname: string, asked: CniCall) => Result<RunStep>,
): Promise<CallAnswer> {
  const read = pluginStep(request);
  if (!read.ok) return refusal(printError(read.fault, versionForError(lenientText(request.stdin))));
  const { step, asked, network, cniVersion } = read.value;
  const run = runner(network, step.attachment?.ifname ?? "", asked);
  if (!run.ok) return refusal(printError(run.fault, cniVersion));
  const outcome = await run.value(step);
  return outcome.ok ? { status: 0, stdout: outcome.stdout, stderr: "" } : refusal(printError(outcome.fault, cniVersion));
}

/**
 * The chain that a nested call belongs to: the chain of its network and interface, else of its network. A native plugin passes the
 * network's name on from its own stdin, where the engine wrote it. Fault: NESTED_CALL_UNKNOWN if no chain has the network.
 */
export function nestedChain(chains: readonly ChainIdentity[], network: string, ifname: string): Result<ChainIdentity> {
  // The last one: a GC undoes attachments of several containers under one name, one after the other.
  const ofNetwork = chains.filter((chain) => chain.network === network);
  const chain = ofNetwork.findLast((each) => each.ifname === ifname) ?? ofNetwork.at(-1);
  if (chain !== undefined) return ok({ ...chain, ifname });
  // A VERSION request has no configuration, and runs nothing.
  if (network === "") return ok({ network, ifname });
  return failed(
    fault("NESTED_CALL_UNKNOWN", `a plugin was called for network ${quote(network, 64)}, but this call attaches no such network`),
  );
}

function refusal(stdout: string): CallAnswer {
  return { status: 1, stdout, stderr: "" };
}
