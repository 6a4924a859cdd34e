// A network as a text that may be a list or a single configuration, and may leave its name and version to whoever holds it.

import { fault } from "../fault/fault.ts";
import { failed, type Result } from "../fault/result.ts";
import { editMembers, parseDocument } from "../json/document.ts";
import { listOfOne, type NetworkList, parseNetworkList, parsePluginConf } from "./network-list.ts";

/** A configuration or a list; without name or version it has those of `holder`. Faults: CONFIG_NOT_JSON, CONFIG_INVALID. */
export function inlineNetwork(
  text: string,
  what: string,
  holder: { readonly name: string; readonly cniVersion: string },
): Result<NetworkList> {
  const parsed = parseDocument(text, { what });
  if (!parsed.ok) return parsed;
  const { members } = parsed.value;
  const missing = new Map<string, string>();
  if (!members.has("name")) missing.set("name", JSON.stringify(holder.name));
  if (!members.has("cniVersion") && !members.has("cniVersions")) {
    missing.set("cniVersion", JSON.stringify(holder.cniVersion));
  }
  const complete = editMembers(parsed.value, missing);
  if (!members.has("plugins") && members.has("type")) {
    const plugin = parsePluginConf(complete, what);
    return plugin.ok ? listOfOne(plugin.value, what) : plugin;
  }
  const list = parseNetworkList(complete, what);
  if (!list.ok || list.value.plugins.length > 0) return list;
  return failed(fault("CONFIG_INVALID", `${what}: it has neither "type" nor "plugins"`));
}
