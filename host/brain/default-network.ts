// The cluster's default network: the first inline delegate, or the configuration that `clusterNetwork` names.

import { statSync } from "node:fs";
import type { HostConfiguration } from "../../src/configuration/host-configuration.ts";
import { filesWith, findNetwork } from "../../src/cni/config-directory.ts";
import { listOfOne, type NetworkList, parseNetworkList, parsePluginConf } from "../../src/cni/network-list.ts";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { editMembers, elementTexts, type JsonObjectDocument, memberText, parseDocument } from "../../src/json/document.ts";
import { definitionExtensions } from "../../src/npwg/network-for-definition.ts";
import { configurationFile, readConfigurationDirectory, withSubdirectoryPlugins } from "../files/configuration-directory.ts";
import { errnoOf, storeFault } from "../files/durable-file.ts";
import { readRegularFile } from "../files/regular-file.ts";

/** The default network as it stands in the configuration now. Faults: CONFIG_NOT_JSON, CONFIG_INVALID, NETWORK_NOT_FOUND. */
export function readDefaultNetwork(document: JsonObjectDocument, configuration: HostConfiguration): Result<NetworkList> {
  const [first] = inlineDelegates(document, configuration);
  if (first !== undefined) return readConfiguration(first, "delegates[0]", configuration);
  return readClusterNetwork(configuration.clusterNetwork ?? "", configuration);
}

/** The further inline delegates: networks that every pod gets besides the default one. */
export function readFurtherDelegates(
  document: JsonObjectDocument,
  configuration: HostConfiguration,
): Result<readonly NetworkList[]> {
  const lists: NetworkList[] = [];
  for (const [index, text] of inlineDelegates(document, configuration).slice(1).entries()) {
    const list = readConfiguration(text, `delegates[${index + 1}]`, configuration);
    if (!list.ok) return list;
    lists.push(list.value);
  }
  return ok(lists);
}

/** None where `clusterNetwork` is there: Multus ignores them then. */
function inlineDelegates(document: JsonObjectDocument, { clusterNetwork }: HostConfiguration): readonly string[] {
  if (clusterNetwork !== undefined) return [];
  const text = memberText(document, "delegates");
  return text === undefined ? [] : elementTexts(text);
}

/** A configuration or a list; what it leaves out of name and version is the host configuration's. */
function readConfiguration(text: string, what: string, configuration: HostConfiguration): Result<NetworkList> {
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

/** A file, a directory (its first configuration in the order of names), or the name of a configuration in `confDir`. */
function readClusterNetwork(named: string, configuration: HostConfiguration): Result<NetworkList> {
  if (!named.startsWith("/")) {
    const directory = readConfigurationDirectory(configuration.confDir);
    const found = directory.ok ? findNetwork(directory.value, named, false, definitionExtensions) : directory;
    return found.ok ? ok(found.value.list) : failed({ ...found.fault, msg: `clusterNetwork: ${found.fault.msg}` });
  }
  try {
    if (!statSync(named).isDirectory()) return readFile(named, configuration);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return failed(fault("NETWORK_NOT_FOUND", `clusterNetwork: there is no ${named}`));
    return failed(storeFault("clusterNetwork: reading", named, error));
  }
  const directory = readConfigurationDirectory(named);
  if (!directory.ok) return directory;
  const { lists, singles } = definitionExtensions;
  const [first] = filesWith([...lists, ...singles], directory.value.files);
  if (first === undefined) return failed(fault("NETWORK_NOT_FOUND", `clusterNetwork: directory ${named} has no configuration`));
  return readFile(first.path, configuration);
}

function readFile(path: string, configuration: HostConfiguration): Result<NetworkList> {
  let text: string;
  try {
    text = readRegularFile(path, configurationFile);
  } catch (error) {
    return failed(storeFault("clusterNetwork: reading", path, error));
  }
  const parsed = parseDocument(text, { what: path });
  if (!parsed.ok) return parsed;
  if (!parsed.value.members.has("plugins") && !parsed.value.members.has("type")) {
    const list = parseNetworkList(text, path);
    return list.ok ? withSubdirectoryPlugins(list.value, path) : list;
  }
  const list = readConfiguration(text, path, configuration);
  return list.ok && parsed.value.members.has("plugins") ? withSubdirectoryPlugins(list.value, path) : list;
}
