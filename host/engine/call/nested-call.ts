// A call that a native plugin makes on its own, of its `ipam.type`: the hands were executed under the name of a component.
// It is served within the call under which it was made, with the same grants and the same journal entry. The hands called
// directly under a component's name serve it likewise: a delegate is then a CNI plugin for any runtime.

import type { ChainStep } from "../../src/cni/chain-step.ts";
import { printError } from "../../src/cni/error-json.ts";
import { readEnvironment, VERBS } from "../../src/cni/environment.ts";
import { parsePluginConf } from "../../src/cni/network-list.ts";
import { readPluginRequest } from "../../src/cni/plugin-request.ts";
import { readResult } from "../../src/cni/read-result.ts";
import type { PluginResult } from "../../src/cni/result.ts";
import { toVersion } from "../../src/cni/versions.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { memberText } from "../../src/json/document.ts";
import type { Reply, Request } from "../hands/messages.ts";
import type { RunStep } from "./run-chain.ts";
import { textOf } from "./utf8.ts";

/** Answers the request as the plugin that it names would. */
export async function answerAsPlugin(
  request: Pick<Request, "name" | "environment" | "stdin">,
  runner: (network: string, ifname: string) => RunStep,
): Promise<Omit<Reply, "kind">> {
  const step = stepOf(request);
  if (!step.ok) return refusal(printError(step.fault));
  const { value } = step;
  const outcome = await runner(value.network, value.step.attachment?.ifname ?? "")(value.step);
  return outcome.ok ? { status: 0, stdout: outcome.stdout, stderr: "" } : refusal(printError(outcome.fault, value.cniVersion));
}

function refusal(stdout: string): Omit<Reply, "kind"> {
  return { status: 1, stdout, stderr: "" };
}

interface OwnStep {
  readonly step: ChainStep;
  readonly network: string;
  readonly cniVersion: string;
}

function stepOf({ name, environment, stdin }: Pick<Request, "name" | "environment" | "stdin">): Result<OwnStep> {
  const call = readEnvironment(environment);
  if (!call.ok) return call;
  const { verb, containerId, ifname } = call.value;
  const env = [...environment];
  // The plugin of the step is the one that was called; the configuration on stdin is its caller's (CNI section 4).
  const plugin = parsePluginConf(JSON.stringify({ type: name }), name);
  if (!plugin.ok) return plugin;
  const base = { index: 0, plugin: plugin.value, verb, env };
  if (verb === "VERSION") {
    return ok({ step: { ...base, stdin: "{}", prevResult: undefined, attachment: undefined }, network: "", cniVersion: "1.1.0" });
  }
  const text = textOf(stdin, "network configuration on stdin");
  if (!text.ok) return text;
  const request = readPluginRequest(verb, text.value);
  if (!request.ok) return request;
  const previous = previousOf(memberText(request.value.document, "prevResult"), request.value.cniVersion);
  if (!previous.ok) return previous;
  const attachment = VERBS.indexOf(verb) < 3 ? { containerId, ifname } : undefined;
  return ok({
    step: { ...base, stdin: text.value, prevResult: previous.value, attachment },
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
