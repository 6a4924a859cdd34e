// Reads the host configuration of one call: the CNI configuration on stdin, and below it the file that `configFile` names. Each call
// reads the file again. A runtime sends the same text for every pod, so the engine caches the parsed request for each text.

import type { CniCall, Verb } from "../../../src/cni/environment.ts";
import { type PluginRequest, readPluginRequest } from "../../../src/cni/plugin-request.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { readLayer, withFile } from "../../../src/configuration/layers.ts";
import { readHostConfiguration } from "../../../src/configuration/read-host-configuration.ts";
import { fault } from "../../../src/fault/fault.ts";
import { type Result, failed, ok } from "../../../src/fault/result.ts";
import { type JsonObjectDocument, memberValue } from "../../../src/json/document.ts";
import { RecentTexts } from "../../../src/json/recent-texts.ts";
import { configurationFile } from "../../store/files/configuration-directory.ts";
import { readRegularFile } from "../../store/files/regular-file.ts";

/** A call's configuration. `document` is the CNI configuration with the keys that only the file has. */
export interface CallConfiguration {
  readonly document: JsonObjectDocument;
  readonly configuration: HostConfiguration;
}

/**
 * Verbs for which a mistake in the configuration is a warning, so that a pod can still be deleted. The others fail: a mistake may
 * attach a pod wrongly (ADD), promise too much (STATUS) or remove attachments that are in use (GC).
 */
const lenientVerbs: readonly Verb[] = ["DEL", "CHECK"];

/** Reads the configuration. Faults: CONFIG_INVALID, CONFIG_NOT_JSON; STORE_FAILED if the file cannot be read. */
export function readCallConfiguration(
  { verb, path: cniPath }: Pick<CniCall, "verb" | "path">,
  stdin: JsonObjectDocument,
): Result<CallConfiguration> {
  const lenient = lenientVerbs.includes(verb);
  const base = readLayer(stdin);
  if (!base.ok) return base;
  let { document } = base.value;
  const notices = [...base.value.notices];
  const warnings: string[] = [];
  const path = memberValue(document, "configFile");
  if (typeof path === "string" && path.startsWith("/")) {
    const text = readText(path);
    const layered = text.ok ? withFile(document, { path, text: text.value }) : text;
    if (layered.ok) {
      document = layered.value.document;
      notices.push(...layered.value.notices);
    } else if (lenient) {
      warnings.push(`this call goes on without the configuration file: ${layered.fault.msg}`);
    } else {
      return layered;
    }
  }
  const read = readHostConfiguration(document.parsed, lenient, notices, warnings);
  if (!read.ok) return read;
  const configuration = read.value;
  // The shim puts `binDir` in front of CNI_PATH. Its scanner knows neither other spellings of the key nor escapes.
  if (configuration.binDir === undefined || cniPath.split(":")[0] === configuration.binDir)
    return ok({ document, configuration });
  const why =
    "configuration: binDir: write the key in exactly this spelling and its value without escapes: the shim reads it itself; if the node has a policy, its `directories` must list the value";
  if (!lenient) return failed(fault("CONFIG_INVALID", why));
  return ok({ document, configuration: { ...configuration, warnings: [...configuration.warnings, why] } });
}

function readText(path: string): Result<string> {
  try {
    return ok(readRegularFile(path, configurationFile));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return failed(fault("STORE_FAILED", `configuration file ${path}: ${why}`));
  }
}

/** The parsed stdin of a call: the request of the CNI protocol, and the host configuration or its fault. */
export interface CallRequest {
  readonly pluginRequest: PluginRequest;
  readonly configured: Result<CallConfiguration>;
}

/** A node has few networks. A small cache suffices for their texts, and texts of single pods soon leave it. */
const recentRequests = new RecentTexts<CallRequest>({ maxTexts: 8, maxLength: 64 * 1024 });

/** Reads stdin. `path`: the call's CNI_PATH. Faults: those of `readPluginRequest`. */
export function readRequest(verb: Exclude<Verb, "VERSION">, path: CniCall["path"], stdin: string): Result<CallRequest> {
  // CNI_PATH is part of the key because `binDir` is compared with it.
  const key = `${verb} ${path}\n${stdin}`;
  const cached = recentRequests.get(key);
  if (cached !== undefined) return ok(cached);
  const pluginRequest = readPluginRequest(verb, stdin);
  if (!pluginRequest.ok) return pluginRequest;
  const configured = readCallConfiguration({ verb, path }, pluginRequest.value.document);
  const request = { pluginRequest: pluginRequest.value, configured };
  if (isCacheable(request)) recentRequests.put(key, request);
  return ok(request);
}

/** Whether the next call with this text means the same: the text has nothing of a single pod, and names no file that may change. */
function isCacheable({ configured }: CallRequest): boolean {
  if (!configured.ok) return false;
  const { members } = configured.value.document;
  return !["configFile", "prevResult", "cni.dev/valid-attachments"].some((key) => members.has(key));
}
