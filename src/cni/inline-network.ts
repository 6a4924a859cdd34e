// A network as a text: a list or a single configuration, which may lack name and version if its holder has them.

import { fault } from "../fault/fault.ts";
import { failed, type Result } from "../fault/result.ts";
import { editMembers, memberValue, parseDocument } from "../json/document.ts";
import { listOfOne, type NetworkList, networkListOf, parseNetworkList, parsePluginConf, pluginConfOf } from "./network-list.ts";

/** Reads a configuration or a list; `holder` supplies a name and a version that are missing, null or empty. Faults: CONFIG_NOT_JSON, CONFIG_INVALID. */
export function inlineNetwork(
  text: string,
  what: string,
  holder: { readonly name: string; readonly cniVersion: string },
): Result<NetworkList> {
  const parsed = parseDocument(text, { what });
  if (!parsed.ok) return parsed;
  const { members } = parsed.value;
  const missing = new Map<string, string>();
  // Multus replaces an empty name and an empty version, too.
  if ((memberValue(parsed.value, "name") ?? "") === "") missing.set("name", JSON.stringify(holder.name));
  if ((memberValue(parsed.value, "cniVersion") ?? "") === "" && !members.has("cniVersions")) {
    missing.set("cniVersion", JSON.stringify(holder.cniVersion));
  }
  const isWhole = missing.size === 0;
  const complete = isWhole ? text : editMembers(parsed.value, missing);
  if (!members.has("plugins") && members.has("type")) {
    const plugin = isWhole ? pluginConfOf(parsed.value, what) : parsePluginConf(complete, what);
    return plugin.ok ? listOfOne(plugin.value, what) : plugin;
  }
  const list = isWhole ? networkListOf(parsed.value, what) : parseNetworkList(complete, what);
  if (!list.ok || list.value.plugins.length > 0) return list;
  return failed(fault("CONFIG_INVALID", `${what}: "type" (one plugin) or "plugins" (a list) is missing`));
}
