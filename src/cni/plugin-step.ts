// The step of a chain that a call of one plugin asks for: its plugin is the one under whose name the call was made.

import type { ChainStep } from "./chain-step.ts";
import { type CniCall, readEnvironment, VERBS } from "./environment.ts";
import { parsePluginConf } from "./network-list.ts";
import { readPluginRequest } from "./plugin-request.ts";
import { readResult } from "./read-result.ts";
import type { PluginResult } from "./result.ts";
import { toVersion } from "./versions.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { memberText } from "../json/document.ts";
import { textOf } from "../text/utf8.ts";

/** The step, and what its answer needs. */
export interface PluginStep {
  readonly step: ChainStep;
  /** The call's variables. */
  readonly asked: CniCall;
  readonly network: string;
  readonly cniVersion: string;
}

/** A call of a plugin: the name under which the plugin was executed, its variables, and its stdin. */
export interface PluginCall {
  readonly name: string;
  readonly environment: ReadonlyMap<string, string>;
  readonly stdin: Uint8Array;
}

/** The step that this call asks for. Faults: those of the environment and of the configuration on stdin. */
export function pluginStep({ name, environment, stdin }: PluginCall): Result<PluginStep> {
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
