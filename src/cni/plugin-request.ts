// The plugin's side of a request: checks of the configuration on stdin before a verb is served (L-06).

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { describeJson, type JsonObjectDocument, memberValue, parseDocument } from "../json/document.ts";
import { quote } from "../json/quote.ts";
import type { Verb } from "./environment.ts";
import { checkNetworkName } from "./names.ts";
import { type CniVersion, CURRENT_VERSION, DEFAULT_VERSION, SUPPORTED_VERSIONS, versionAtLeast } from "./versions.ts";

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
