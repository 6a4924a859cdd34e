// IPAM delegation (CNI 1.1.0 section 4, L-62, L-63): a main plugin has its addresses from the plugin that `ipam.type` names.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { chainFailed, wrapFault } from "./chains.ts";
import type { Chain, ChainStep } from "./chain-step.ts";
import type { Verb } from "./environment.ts";
import { readResult } from "./read-result.ts";
import type { PluginResult } from "./result.ts";
import { toVersion } from "./versions.ts";

/** An IPAM plugin knows no interfaces: its result has neither `interfaces` nor `ips[].interface`. Fault: RESULT_INVALID (6). */
export function checkIpamResult(answer: PluginResult): Result<PluginResult> {
  const { interfaces, ips } = answer.result;
  if (interfaces.length > 0) return failed(fault("RESULT_INVALID", "an IPAM plugin's result must not have interfaces"));
  const index = ips.findIndex((ip) => ip.interface !== undefined);
  if (index === -1) return ok(answer);
  return failed(fault("RESULT_INVALID", `an IPAM plugin's result must not have ips[${index}].interface`));
}

/** The parent's step again, for its IPAM plugin: same configuration, same environment but for the verb. */
function delegated(parent: ChainStep, type: string, verb: Verb): ChainStep {
  const env = parent.env.map(([name, value]) => [name, name === "CNI_COMMAND" ? verb : value] as const);
  return { ...parent, plugin: { ...parent.plugin, type }, verb, env };
}

/**
 * Calls the IPAM plugin of a step, for the step's own verb. Answers the result of an ADD; undefined for other verbs and where
 * the configuration names no IPAM plugin. When its ADD fails, its DEL runs before the ADD's fault is answered, whatever comes
 * of the DEL.
 */
export function* ipamChain(parent: ChainStep, cniVersion: string): Chain<PluginResult | undefined> {
  const type = parent.plugin.ipamType;
  if (type === undefined) return { ok: true, value: undefined };
  const version = toVersion(cniVersion);
  if (!version.ok) return chainFailed(version.fault);
  const outcome = yield delegated(parent, type, parent.verb);
  if (parent.verb !== "ADD") {
    return outcome.ok
      ? { ok: true, value: undefined }
      : chainFailed(wrapFault(outcome.fault, `ipam plugin ${type}`), parent.index);
  }
  const read = outcome.ok ? readResult(outcome.stdout, version.value, `result of ipam plugin ${type}`) : outcome;
  const checked = read.ok ? checkIpamResult(read.value) : read;
  if (checked.ok) return { ok: true, value: checked.value };
  yield delegated(parent, type, "DEL");
  return chainFailed(wrapFault(checked.fault, `ipam plugin ${type}`), parent.index);
}
