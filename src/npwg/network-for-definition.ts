// From a NetworkAttachmentDefinition to the network that it means (NPWG 3.4.1 to 3.4.3): what the object holds, else a
// configuration on disk whose JSON name is the object's.

import { type ConfigDirectory, type ConfigExtensions, findNetwork } from "../cni/config-directory.ts";
import { listOfOne, type NetworkList, parseNetworkList, parsePluginConf } from "../cni/network-list.ts";
import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { editMembers, memberValue, parseDocument } from "../json/document.ts";
import { quote } from "../json/quote.ts";
import type { NetworkAttachmentDefinition } from "./network-attachment-definition.ts";

export interface DefinedNetwork {
  readonly list: NetworkList;
  /** The file that it was read from; undefined where it is `spec.config`. */
  readonly path: string | undefined;
  /** One sentence each: a name that differs, files that were passed over. */
  readonly warnings: readonly string[];
}

/** Rules 2 and 3 of 3.4.1, with the endings of the specification and those of the world (D-10). */
export const definitionExtensions: ConfigExtensions = {
  lists: [".conflist", ".configlist"],
  singles: [".conf", ".config", ".json"],
};

/**
 * The network of `definition`: its `spec.config`; else the first list in `directory` with its name; else the first
 * single configuration with it. A `spec.config` without a name gets the object's (3.4.2); another name than the
 * object's works and warns (3.4.3). A `spec.config` that is there but broken is a fault: no other rule takes its place.
 * Faults: NETWORK_NOT_FOUND (no rule gives a configuration), CONFIG_NOT_JSON and CONFIG_INVALID, each naming the definition.
 */
export function networkFor(
  definition: NetworkAttachmentDefinition,
  directory: ConfigDirectory | undefined,
): Result<DefinedNetwork> {
  const who = `NetworkAttachmentDefinition ${definition.namespace}/${definition.name}`;
  if (definition.config === undefined) return networkOnDisk(definition.name, directory, who);
  const list = parseConfig(definition.config, definition.name, `${who}: spec.config`);
  if (!list.ok) return list;
  const { name } = list.value;
  const differs = `${who}: its configuration is called ${quote(name, 60)}; the object's own name is recommended (3.4.3)`;
  return ok({ list: list.value, path: undefined, warnings: name === definition.name ? [] : [differs] });
}

/** A list or a single configuration, told apart by what it holds. */
function parseConfig(text: string, name: string, what: string): Result<NetworkList> {
  const document = parseDocument(text, { what });
  if (!document.ok) return document;
  const own = memberValue(document.value, "name");
  const unnamed = own === undefined || own === null || own === "";
  const complete = unnamed ? editMembers(document.value, new Map([["name", JSON.stringify(name)]])) : text;
  const { members } = document.value;
  if (members.has("type") && !members.has("plugins")) {
    const plugin = parsePluginConf(complete, what);
    return plugin.ok ? listOfOne(plugin.value, what) : plugin;
  }
  const list = parseNetworkList(complete, what);
  // An object of the API has no directory beside it from which a list without plugins could get some (L-20).
  if (!list.ok || list.value.plugins.length > 0) return list;
  return failed(fault("CONFIG_INVALID", `${what}: has neither "plugins" nor "type"`));
}

function networkOnDisk(name: string, directory: ConfigDirectory | undefined, who: string): Result<DefinedNetwork> {
  const lacks = `${who} has no spec.config, and no file holds a configuration of its name`;
  if (directory === undefined) return failed(fault("NETWORK_NOT_FOUND", `${lacks}: there is no directory to look in`));
  const found = findNetwork(directory, name, false, definitionExtensions);
  if (!found.ok) {
    const details = found.fault.details === undefined ? {} : { details: found.fault.details };
    return failed(fault("NETWORK_NOT_FOUND", `${lacks}: ${found.fault.msg}`, details));
  }
  const { list, path, warnings } = found.value;
  return ok({ list, path, warnings: warnings.map((each) => `passed over: ${each.msg}`) });
}
