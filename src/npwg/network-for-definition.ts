// Finds the network of a NetworkAttachmentDefinition (NPWG 3.4.1 to 3.4.3): its own configuration, else a configuration on disk
// whose JSON name is the object's.

import { type ConfigDirectory, type ConfigExtensions, findNetwork } from "../cni/config-directory.ts";
import {
  listOfOne,
  type NetworkList,
  networkListOf,
  parseNetworkList,
  parsePluginConf,
  pluginConfOf,
} from "../cni/network-list.ts";
import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { editMembers, memberValue, parseDocument } from "../json/document.ts";
import { quote } from "../json/quote.ts";
import type { NetworkAttachmentDefinition } from "./network-attachment-definition.ts";

/** The network of a definition. */
export interface DefinedNetwork {
  readonly list: NetworkList;
  /** The file of the configuration; undefined if it is `spec.config`. */
  readonly path: string | undefined;
  /** One sentence each: a differing name, or files that were passed over. */
  readonly warnings: readonly string[];
}

/** Rules 2 and 3 of 3.4.1, with the specification's extensions and the common ones (D-10). */
export const definitionExtensions: ConfigExtensions = {
  lists: [".conflist", ".configlist"],
  singles: [".conf", ".config", ".json"],
};

/** Maximum keys of one object: far more than a configuration has. Each key costs time, and authors of definitions could write thousands. */
const maxKeys = 1000;

/**
 * The network of `definition`: its `spec.config`; else the first list in `directory` with its name; else the first single
 * configuration with its name. A `spec.config` without a name gets the object's (3.4.2); a name other than the object's works,
 * with a warning (3.4.3). A broken `spec.config` is a fault: no other rule replaces it. Faults: NETWORK_NOT_FOUND (no rule finds
 * a configuration), CONFIG_NOT_JSON and CONFIG_INVALID, each with the definition's name.
 */
export function networkFor(
  definition: NetworkAttachmentDefinition,
  directory: ConfigDirectory | undefined,
): Result<DefinedNetwork> {
  const definitionName = `NetworkAttachmentDefinition ${definition.namespace}/${definition.name}`;
  if (definition.config === undefined) return networkOnDisk(definition.name, directory, definitionName);
  const list = parseConfig(definition.config, definition.name, `${definitionName}: spec.config`);
  if (!list.ok) return list;
  const { name } = list.value;
  const differs = `${definitionName}: its configuration has the name ${quote(name, 60)}; the object's own name is recommended (3.4.3)`;
  return ok({ list: list.value, path: undefined, warnings: name === definition.name ? [] : [differs] });
}

/** Reads a list or a single configuration, which differ in their keys. */
function parseConfig(text: string, name: string, what: string): Result<NetworkList> {
  const document = parseDocument(text, { what, maxKeys });
  if (!document.ok) return document;
  const configName = memberValue(document.value, "name");
  const unnamed = configName === undefined || configName === null || configName === "";
  const complete = unnamed ? editMembers(document.value, new Map([["name", JSON.stringify(name)]])) : text;
  const { members } = document.value;
  if (members.has("type") && !members.has("plugins")) {
    const plugin = unnamed ? parsePluginConf(complete, what) : pluginConfOf(document.value, what);
    return plugin.ok ? listOfOne(plugin.value, what) : plugin;
  }
  const list = unnamed ? parseNetworkList(complete, what) : networkListOf(document.value, what);
  // An object of the API has no subdirectory from which a list without plugins could get some (L-20).
  if (!list.ok || list.value.plugins.length > 0) return list;
  return failed(fault("CONFIG_INVALID", `${what}: "type" (one plugin) or "plugins" (a list) is missing`));
}

function networkOnDisk(name: string, directory: ConfigDirectory | undefined, definitionName: string): Result<DefinedNetwork> {
  const lacks = `${definitionName} has no spec.config, and no file has a configuration of its name`;
  if (directory === undefined) return failed(fault("NETWORK_NOT_FOUND", `${lacks}: no configuration directory is set`));
  const found = findNetwork(directory, name, false, definitionExtensions);
  if (!found.ok) {
    const details = found.fault.details === undefined ? {} : { details: found.fault.details };
    return failed(fault("NETWORK_NOT_FOUND", `${lacks}: ${found.fault.msg}`, details));
  }
  const { list, path, warnings } = found.value;
  return ok({ list, path, warnings: warnings.map((each) => `passed over: ${each.msg}`) });
}
