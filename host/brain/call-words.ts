// What calls say on stdin. A runtime sends the same configuration for every pod: what a text means is worked out once.

import type { CniCall, Verb } from "../../src/cni/environment.ts";
import { type PluginRequest, readPluginRequest } from "../../src/cni/plugin-request.ts";
import { ok, type Result } from "../../src/fault/result.ts";
import { RecentTexts } from "../../src/json/recent-texts.ts";
import { type CallConfiguration, readCallConfiguration } from "./read-configuration.ts";

export interface CallWords {
  readonly request: PluginRequest;
  readonly configured: Result<CallConfiguration>;
}

/** Those of a node's networks: texts with one pod's capability arguments must not push out what all others share. */
const known = new RecentTexts<CallWords>({ most: 8, longest: 64 * 1024 });

/** Reads stdin. Faults: those of `readPluginRequest`. */
export function readCallWords(verb: Exclude<Verb, "VERSION">, path: CniCall["path"], stdin: string): Result<CallWords> {
  // The path, too: `binDir` is compared with it.
  const key = `${verb} ${path}\n${stdin}`;
  const same = known.get(key);
  if (same !== undefined) return ok(same);
  const request = readPluginRequest(verb, stdin);
  if (!request.ok) return request;
  const words = { request: request.value, configured: readCallConfiguration({ verb, path }, request.value.document) };
  if (comesAgain(words)) known.put(key, words);
  return ok(words);
}

/** Not with what is one pod's or one moment's own; nor where there is a file to be read, which may be another by then. */
function comesAgain({ configured }: CallWords): boolean {
  if (!configured.ok) return false;
  const { members } = configured.value.document;
  return !["configFile", "prevResult", "cni.dev/valid-attachments"].some((key) => members.has(key));
}
