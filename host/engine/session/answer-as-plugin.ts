// Answers a request for a component as a CNI plugin answers it: reads the step on stdin, runs it, and prints its result or its error.

import type { ChainStep } from "../../../src/cni/chain-step.ts";
import { printError } from "../../../src/cni/error-json.ts";
import { type CniCall, readEnvironment, VERBS } from "../../../src/cni/environment.ts";
import { parsePluginConf } from "../../../src/cni/network-list.ts";
import { readPluginRequest, versionForError } from "../../../src/cni/plugin-request.ts";
import { readResult } from "../../../src/cni/read-result.ts";
import type { PluginResult } from "../../../src/cni/result.ts";
import { toVersion } from "../../../src/cni/versions.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import { memberText } from "../../../src/json/document.ts";
import type { Reply, Request } from "../../protocol/messages.ts";
import type { ChainIdentity } from "../call.ts";
import type { RunStep } from "../../../src/cni/run-chain.ts";
import { lenientText, textOf } from "../../../src/text/utf8.ts";

/** Runs the component that the request names as a CNI plugin. `runner` makes the step's runner for its network and interface, and the request's variables. */
export async function answerAsPlugin(
  request: Pick<Request, "name" | "environment" | "stdin">,
  runner: (network: string, ifname: string, asked: CniCall) => Result<RunStep>,
): Promise<Omit<Reply, "kind">> {
  const read = stepOf(request);
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
  const ofNetwork = chains.filter((chain) => chain.network === network);
  const chain = ofNetwork.find((each) => each.ifname === ifname) ?? ofNetwork[0];
  if (chain !== undefined) return ok({ ...chain, ifname });
  // A VERSION request has no configuration, and runs nothing.
  if (network === "") return ok({ network, ifname });
  return failed(
    fault("NESTED_CALL_UNKNOWN", `a plugin was called for network ${quote(network, 64)}, but this call attaches no such network`),
  );
}

function refusal(stdout: string): Omit<Reply, "kind"> {
  return { status: 1, stdout, stderr: "" };
}

interface PluginStep {
  readonly step: ChainStep;
  readonly asked: CniCall;
  readonly network: string;
  readonly cniVersion: string;
}

function stepOf({ name, environment, stdin }: Pick<Request, "name" | "environment" | "stdin">): Result<PluginStep> {
  const call = readEnvironment(environment);
  if (!call.ok) return call;
  const { verb, containerId, ifname } = call.value;
  const env = [...environment];
  // The step's plugin is the called component. The configuration on stdin names the caller as `type` (CNI section 4).
  const plugin = parsePluginConf(JSON.stringify({ type: name }), name);
  if (!plugin.ok) return plugin;
  const base = { index: 0, plugin: plugin.value, verb, env };
  if (verb === "VERSION") {
    return ok({
      step: { ...base, stdin: "{}", prevResult: undefined, attachment: undefined },
      asked: call.value,
      network: "",
      cniVersion: "1.1.0",
    });
  }
  const text = textOf(stdin, "network configuration on stdin");
  if (!text.ok) return text;
  const request = readPluginRequest(verb, text.value);
  if (!request.ok) return request;
  const previous = previousOf(memberText(request.value.document, "prevResult"), request.value.cniVersion);
  if (!previous.ok) return previous;
  // ADD, DEL and CHECK are the first three verbs.
  const attachment = VERBS.indexOf(verb) < 3 ? { containerId, ifname } : undefined;
  return ok({
    step: { ...base, stdin: text.value, prevResult: previous.value, attachment },
    asked: call.value,
    network: request.value.name,
    cniVersion: request.value.cniVersion,
  });
}

function previousOf(text: string | undefined, cniVersion: string): Result<PluginResult | undefined> {
  if (text === undefined || text === "null") return ok(undefined);
  const version = toVersion(cniVersion);
  if (!version.ok) return version;
  const read = readResult(text, version.value, "prevResult");
  return read.ok ? ok(read.value) : failed(read.fault);
}
