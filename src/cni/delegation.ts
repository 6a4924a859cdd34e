// Plugin delegation (CNI 1.1.0 section 4, L-62, L-63): a plugin calls another plugin, mostly for IPAM, with its own environment
// and configuration.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import {
  editMembers,
  isJsonObject,
  type JsonObjectDocument,
  memberText,
  memberValue,
  parseConfiguration,
  parseDocument,
} from "../json/document.ts";
import { foldedKey } from "../json/folded-key.ts";
import { chainFailed, wrapFault } from "./chains.ts";
import type { Chain, ChainStep } from "./chain-step.ts";
import type { Verb } from "./environment.ts";
import { readResult } from "./read-result.ts";
import type { PluginResult } from "./result.ts";
import { DEFAULT_VERSION, toVersion } from "./versions.ts";

/** A plugin's request to call another plugin within its own step. */
export interface Delegated {
  readonly type: string;
  /** A JSON object that replaces the step's own configuration. */
  readonly config?: string | undefined;
}

/**
 * Keys that are always the calling step's, even if the delegated configuration has them: they identify the network and its valid
 * attachments.
 */
const callerKeys = ["cniVersion", "name", "prevResult", "cni.dev/valid-attachments", "cni.dev/attachments"];
const foldedKeys = callerKeys.map(foldedKey);

/** The calling step's configuration, and the delegated plugin's. */
interface Configurations {
  readonly caller: JsonObjectDocument;
  readonly delegated: JsonObjectDocument;
}

function readConfigurations(call: ChainStep, { type, config }: Delegated): Result<Configurations> {
  const caller = parseConfiguration(call.stdin, { what: `configuration of ${call.plugin.type}` });
  if (!caller.ok) return caller;
  const delegated = config === undefined ? caller : parseDocument(config, { what: `configuration for plugin ${type}` });
  return delegated.ok ? ok({ caller: caller.value, delegated: delegated.value }) : delegated;
}

/** The calling step for another plugin: same environment except for the verb, same configuration unless `config` replaces it. */
function stepFor(call: ChainStep, verb: Verb, { type }: Delegated, { caller, delegated }: Configurations): ChainStep {
  const env = call.env.map(([name, value]) => [name, name === "CNI_COMMAND" ? verb : value] as const);
  const step = { ...call, plugin: { ...call.plugin, type }, verb, env };
  return delegated === caller ? step : { ...step, stdin: withCallerKeys(caller, delegated) };
}

/** Other spellings of the caller's keys are removed: Go's decoder would take them for the key. */
function withCallerKeys(caller: JsonObjectDocument, delegated: JsonObjectDocument): string {
  const edits = new Map<string, string | undefined>();
  for (const key of delegated.members.keys()) if (foldedKeys.includes(foldedKey(key))) edits.set(key, undefined);
  for (const key of callerKeys) edits.set(key, memberText(caller, key));
  return editMembers(delegated, edits);
}

/** An IPAM plugin has no interfaces: its result must lack `interfaces` and `ips[].interface`. Fault: RESULT_INVALID (6). */
function checkIpamResult(answer: PluginResult): Result<PluginResult> {
  const { interfaces, ips } = answer.result;
  if (interfaces.length > 0) return failed(fault("RESULT_INVALID", "an IPAM plugin's result must not have interfaces"));
  const index = ips.findIndex((ip) => ip.interface !== undefined);
  if (index === -1) return ok(answer);
  return failed(fault("RESULT_INVALID", `an IPAM plugin's result must not have ips[${index}].interface`));
}

function ipamTypeOf(document: JsonObjectDocument): unknown {
  const ipam = memberValue(document, "ipam");
  return isJsonObject(ipam) ? ipam["type"] : undefined;
}

/**
 * ADD of another plugin within the step `call`. If the ADD fails, or if an IPAM plugin answers with interfaces, the plugin's DEL
 * runs before the fault is answered; a failed DEL is reported in the details. Faults: CONFIG_NOT_JSON (6) for `config`; the
 * plugin's own.
 */
export function* delegatedAdd(call: ChainStep, delegated: Delegated): Chain<PluginResult> {
  const { type } = delegated;
  const configurations = readConfigurations(call, delegated);
  if (!configurations.ok) return chainFailed(configurations.fault, call.index);
  const { caller, delegated: configuration } = configurations.value;
  const version = toVersion(cniVersionOf(caller));
  if (!version.ok) return chainFailed(version.fault, call.index);
  const outcome = yield stepFor(call, "ADD", delegated, configurations.value);
  const read = outcome.ok ? readResult(outcome.stdout, version.value, `result of plugin ${type}`) : outcome;
  const isIpam = ipamTypeOf(caller) === type || ipamTypeOf(configuration) === type;
  const checked = read.ok && isIpam ? checkIpamResult(read.value) : read;
  if (checked.ok) return { ok: true, value: checked.value };
  const failure = wrapFault(checked.fault, `plugin ${type} failed (add)`);
  // No DEL without a plugin: nothing was begun.
  if (failure.kind === "PLUGIN_NOT_FOUND") return chainFailed(failure, call.index);
  const undone = yield stepFor(call, "DEL", delegated, configurations.value);
  if (undone.ok) return chainFailed(failure, call.index);
  return chainFailed({ ...failure, details: `${failure.details ?? ""}\nits DEL failed too: ${undone.fault.msg}` }, call.index);
}

function cniVersionOf(caller: JsonObjectDocument): string {
  const named = memberValue(caller, "cniVersion");
  return typeof named === "string" && named !== "" ? named : DEFAULT_VERSION;
}

/** Calls another plugin with another verb within the step `call`. */
export function* delegatedVerb(call: ChainStep, verb: Exclude<Verb, "ADD" | "VERSION">, delegated: Delegated): Chain<void> {
  const configurations = readConfigurations(call, delegated);
  if (!configurations.ok) return chainFailed(configurations.fault, call.index);
  const outcome = yield stepFor(call, verb, delegated, configurations.value);
  if (outcome.ok) return { ok: true, value: undefined };
  return chainFailed(wrapFault(outcome.fault, `plugin ${delegated.type} failed (${verbNames[verb]})`), call.index);
}

const verbNames = { DEL: "delete", CHECK: "check", GC: "gc", STATUS: "status" } as const;
