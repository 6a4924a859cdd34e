// Reads the network configuration that calls have on stdin. A runtime sends the same text for every pod, so the engine caches the
// parsed request for each text.

import type { CniCall, Verb } from "../../../src/cni/environment.ts";
import { type PluginRequest, readPluginRequest } from "../../../src/cni/plugin-request.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import { RecentTexts } from "../../../src/json/recent-texts.ts";
import { type CallConfiguration, readCallConfiguration } from "../call/read-configuration.ts";

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
