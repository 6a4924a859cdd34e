// The plugin's side of a request: checks of the configuration on stdin before a verb is served (L-06), and the step that a call of one plugin asks for.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { describeJson, type JsonObjectDocument, memberValue, parseDocument, memberText } from "../json/document.ts";
import { quote } from "../json/quote.ts";
import { textOf } from "../text/inert-text.ts";
import { checkNetworkName } from "./attachment.ts";
import type { ChainStep } from "./chain-step.ts";
import { type Verb, type CniCall, readEnvironment, VERBS } from "./environment.ts";
import { parsePluginConf } from "./network-list.ts";
import { readResult } from "./read-result.ts";
import type { PluginResult } from "./result.ts";
import { type CniVersion, CURRENT_VERSION, DEFAULT_VERSION, SUPPORTED_VERSIONS, versionAtLeast, toVersion } from "./versions.ts";

/** A valid configuration on stdin. */
export interface PluginRequest {
  readonly document: JsonObjectDocument;
  readonly name: string;
  /** A version that the plugin supports. */
  readonly cniVersion: string;
}

/**
 * The version of an error for a request that could not be read as a whole: the configuration's, if the configuration is JSON and
 * names one; else Plexus' own.
 */
export function versionForError(stdin: string): string {
  const parsed = parseDocument(stdin, { what: "network configuration on stdin" });
  if (!parsed.ok) return CURRENT_VERSION;
  const named = memberValue(parsed.value, "cniVersion") ?? "";
  if (named === "") return DEFAULT_VERSION;
  return typeof named === "string" && VERSION_TEXT.test(named) ? named : CURRENT_VERSION;
}

/** Texts that may be repeated as a version, known or not. */
const VERSION_TEXT = /^\d[\w.+-]{0,31}$/;

/** The first configuration version that has the verb. */
const VERB_SINCE: Readonly<Partial<Record<Verb, CniVersion>>> = { CHECK: "0.4.0", GC: "1.1.0", STATUS: "1.1.0" };

/**
 * Reads stdin of every verb except VERSION, which ignores it. Faults: CONFIG_NOT_JSON (6); CONFIG_INVALID (7) for the name;
 * VERSION_UNSUPPORTED (1) if the configuration's version lacks the verb or is not exactly one of `supported`.
 */
export function readPluginRequest(
  verb: Exclude<Verb, "VERSION">,
  stdin: string,
  supported: readonly string[] = SUPPORTED_VERSIONS,
): Result<PluginRequest> {
  const parsed = parseDocument(stdin, { what: "network configuration on stdin" });
  if (!parsed.ok) return parsed;
  const document = parsed.value;
  const name = memberValue(document, "name") ?? "";
  if (typeof name !== "string") {
    return failed(fault("CONFIG_INVALID", `network configuration on stdin: name must be a string, but is ${describeJson(name)}`));
  }
  const checked = checkNetworkName(name);
  if (!checked.ok) return checked;
  const named = memberValue(document, "cniVersion") ?? "";
  if (typeof named !== "string") {
    return failed(
      fault("CONFIG_INVALID", `network configuration on stdin: cniVersion must be a string, but is ${describeJson(named)}`),
    );
  }
  const cniVersion = named === "" ? DEFAULT_VERSION : named;
  const since = VERB_SINCE[verb];
  const speaks = since === undefined ? ok(true) : versionAtLeast(cniVersion, since);
  if (!speaks.ok) return speaks;
  if (!speaks.value) return failed(fault("VERSION_UNSUPPORTED", `config version does not allow ${verb}`));
  if (supported.includes(cniVersion)) return ok({ document, name, cniVersion });
  const list = supported.map((version) => quote(version)).join(" ");
  return failed(
    fault("VERSION_UNSUPPORTED", "incompatible CNI versions", {
      details: `config is ${quote(cniVersion)}, plugin supports [${list}]`,
    }),
  );
}

/** The step, and what its answer needs. */
interface PluginStep {
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
