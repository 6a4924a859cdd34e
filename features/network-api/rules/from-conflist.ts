// Describes a configuration list as a network of the CRI Network API: the network on the disk (CR-12), and a NetworkAttachmentDefinition
// that is fed to a socket (CR-17).

import type { NetworkList, PluginConf } from "../../../src/cni/network-list.ts";
import { memberTexts } from "../../../src/json/document.ts";
import type { CniPluginConfig, NetworkConfig, NetworkMetadata } from "./network-config.ts";

/** Keys of a plugin that have fields of their own, or that a plugin gets from its list. */
const ownFields: ReadonlySet<string> = new Set(["type", "capabilities", "name", "cniVersion"]);

/** The list as a network. The translation to a list gives plugins the same keys. */
export function fromConflist(metadata: NetworkMetadata, list: NetworkList): NetworkConfig {
  return {
    metadata,
    ipRanges: [],
    cniVersion: list.cniVersion,
    networkName: list.name,
    disableCheck: list.disableCheck,
    plugins: list.plugins.map(pluginOf),
  };
}

function pluginOf({ type, capabilities, document }: PluginConf): CniPluginConfig {
  const parameters = new Map<string, string>();
  for (const [key, text] of memberTexts(document.text)) if (!ownFields.has(key)) parameters.set(key, parameterOf(text));
  return { type, capabilities, parameters };
}

/** A string stands as itself, unless its content is JSON and would be read as such. */
function parameterOf(text: string): string {
  if (!text.startsWith('"')) return text;
  const content = String(JSON.parse(text));
  try {
    JSON.parse(content);
    return text;
  } catch {
    return content;
  }
}
