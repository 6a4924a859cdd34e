// Plugin delegation (CNI 1.1.0 section 4, L-62, L-63): a plugin has another one do a part of its work, IPAM in most cases, with its
// own environment and its own configuration.

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
import { chainFailed, wrapFault } from "./chains.ts";
import type { Chain, ChainStep } from "./chain-step.ts";
import type { Verb } from "./environment.ts";
import { readResult } from "./read-result.ts";
import type { PluginResult } from "./result.ts";
import { DEFAULT_VERSION, toVersion } from "./versions.ts";

/** What a plugin asks for within its own step. */
export interface Delegated {
  readonly type: string;
  /** A JSON object in place of the step's own configuration. */
  readonly config?: string | undefined;
}

/** What stays the call's, whatever a configuration in its place says: who speaks of which network, and who is still there. */
const keysOfTheCall = ["cniVersion", "name", "prevResult", "cni.dev/valid-attachments", "cni.dev/attachments"];
const foldedKeys = keysOfTheCall.map(folded);

/** The call's own configuration, and the one that the other plugin gets. */
interface Configurations {
  readonly own: JsonObjectDocument;
  readonly given: JsonObjectDocument;
}

function readConfigurations(call: ChainStep, { type, config }: Delegated): Result<Configurations> {
  const own = parseConfiguration(call.stdin, { what: `configuration of ${call.plugin.type}` });
  if (!own.ok) return own;
  const given = config === undefined ? own : parseDocument(config, { what: `configuration for plugin ${type}` });
  return given.ok ? ok({ own: own.value, given: given.value }) : given;
}

/** The call's step again, for another plugin: same environment but for the verb, same configuration unless one is given. */
function stepFor(call: ChainStep, verb: Verb, { type }: Delegated, { own, given }: Configurations): ChainStep {
  const env = call.env.map(([name, value]) => [name, name === "CNI_COMMAND" ? verb : value] as const);
  const step = { ...call, plugin: { ...call.plugin, type }, verb, env };
  return given === own ? step : { ...step, stdin: asOfTheCall(own, given) };
}

/** No other spelling of a key of the call's survives: Go's decoder would take it for the key. */
function asOfTheCall(own: JsonObjectDocument, given: JsonObjectDocument): string {
  const edits = new Map<string, string | undefined>();
  for (const key of given.members.keys()) if (foldedKeys.includes(folded(key))) edits.set(key, undefined);
  for (const key of keysOfTheCall) edits.set(key, memberText(own, key));
  return editMembers(given, edits);
}

/** As Go's decoder compares keys: it takes two letters beyond ASCII for `s` and `k`. */
function folded(key: string): string {
  return key.replaceAll("\u017f", "s").replaceAll("\u212a", "k").toLowerCase();
}

/** An IPAM plugin knows no interfaces: its result has neither `interfaces` nor `ips[].interface`. Fault: RESULT_INVALID (6). */
export function checkIpamResult(answer: PluginResult): Result<PluginResult> {
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
 * An ADD of another plugin within the step `call`. When it fails, or answers interfaces though `ipam.type` names it, its DEL runs before the
 * fault is answered; a failure of the DEL is told in the details. Faults: CONFIG_NOT_JSON (6) for a configuration given; the plugin's own.
 */
export function* delegatedAdd(call: ChainStep, delegated: Delegated): Chain<PluginResult> {
  const { type } = delegated;
  const configurations = readConfigurations(call, delegated);
  if (!configurations.ok) return chainFailed(configurations.fault, call.index);
  const { own, given } = configurations.value;
  const version = toVersion(namedVersion(own));
  if (!version.ok) return chainFailed(version.fault, call.index);
  const outcome = yield stepFor(call, "ADD", delegated, configurations.value);
  const read = outcome.ok ? readResult(outcome.stdout, version.value, `result of plugin ${type}`) : outcome;
  const isIpam = ipamTypeOf(own) === type || ipamTypeOf(given) === type;
  const checked = read.ok && isIpam ? checkIpamResult(read.value) : read;
  if (checked.ok) return { ok: true, value: checked.value };
  const failure = wrapFault(checked.fault, `plugin ${type} failed (add)`);
  // Where there is no plugin, none has begun anything.
  if (failure.kind === "PLUGIN_NOT_FOUND") return chainFailed(failure, call.index);
  const undone = yield stepFor(call, "DEL", delegated, configurations.value);
  if (undone.ok) return chainFailed(failure, call.index);
  return chainFailed({ ...failure, details: `${failure.details ?? ""}\nits DEL failed, too: ${undone.fault.msg}` }, call.index);
}

function namedVersion(own: JsonObjectDocument): string {
  const named = memberValue(own, "cniVersion");
  return typeof named === "string" && named !== "" ? named : DEFAULT_VERSION;
}

/** Another verb of another plugin within the step `call`. */
export function* delegatedVerb(call: ChainStep, verb: Exclude<Verb, "ADD" | "VERSION">, delegated: Delegated): Chain<void> {
  const configurations = readConfigurations(call, delegated);
  if (!configurations.ok) return chainFailed(configurations.fault, call.index);
  const outcome = yield stepFor(call, verb, delegated, configurations.value);
  if (outcome.ok) return { ok: true, value: undefined };
  return chainFailed(wrapFault(outcome.fault, `plugin ${delegated.type} failed (${verbWords[verb]})`), call.index);
}

const verbWords = { DEL: "delete", CHECK: "check", GC: "gc", STATUS: "status" } as const;
