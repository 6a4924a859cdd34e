// A network that stands in Plexus' own configuration, or in a file that it names: what it leaves out is the host configuration's.

import { listOfOne, type NetworkList, parseNetworkList, parsePluginConf } from "../../src/cni/network-list.ts";
import type { HostConfiguration } from "../../src/configuration/host-configuration.ts";
import { fault } from "../../src/fault/fault.ts";
import { failed, type Result } from "../../src/fault/result.ts";
import { editMembers, parseDocument } from "../../src/json/document.ts";

/** A configuration or a list; without name or version it has the host configuration's. Faults: CONFIG_NOT_JSON, CONFIG_INVALID. */
export function inlineNetwork(
  text: string,
  what: string,
  configuration: Pick<HostConfiguration, "name" | "cniVersion">,
): Result<NetworkList> {
  const parsed = parseDocument(text, { what });
  if (!parsed.ok) return parsed;
  const { members } = parsed.value;
  const missing = new Map<string, string>();
  if (!members.has("name")) missing.set("name", JSON.stringify(configuration.name));
  if (!members.has("cniVersion") && !members.has("cniVersions")) {
    missing.set("cniVersion", JSON.stringify(configuration.cniVersion));
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
