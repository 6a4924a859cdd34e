// Finds the node's own network in the runtime's directory of network configurations: the first one, in the runtime's order, that does not
// run Plexus. plexusd makes it the `clusterNetwork` of the configuration that it writes (MO-21, MO-24).

import { appendSubdirectoryPlugins, type ConfigDirectory, type ConfigFile, filesWith } from "../cni/config-directory.ts";
import { listOfOne, type NetworkList, parseNetworkList, parsePluginConf } from "../cni/network-list.ts";
import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { parseDocument } from "../json/document.ts";
import { quote } from "../json/quote.ts";
import { isPlexusName, plexusTypeIn } from "./definition-policy.ts";

/** Conditions for a network of the directory. */
export interface NetworkWanted {
  /** The file name to take; undefined: the first file in the runtime's order. */
  readonly pinned: string | undefined;
  /** The type of Plexus' own configuration, and the names of further links to the shim. A plugin of these types is Plexus. */
  readonly plexusTypes: readonly string[];
}

/** The network that Plexus attaches as the default network. */
export interface DirectoryNetwork {
  readonly path: string;
  readonly name: string;
  readonly list: NetworkList;
  /** Capabilities of any of its plugins: the runtime passes `runtimeConfig` only to a configuration that declares them. */
  readonly capabilities: readonly string[];
  /** One sentence for each broken file that was passed over. */
  readonly passedOver: readonly string[];
}

/** Extensions of the files that libcni and the runtimes read, in one order by name. */
const extensions = [".conf", ".conflist", ".json"] as const;

/** The directory's configuration files in the order in which a runtime reads them. */
export function configurationFiles(files: readonly ConfigFile[]): readonly ConfigFile[] {
  return filesWith(extensions, files);
}

/** Whether a plugin in the file's text is Plexus, at any depth: such a network would make Plexus its own delegate. */
export function runsPlexus(text: string, plexusTypes: readonly string[]): boolean {
  const document = parseDocument(text, { what: "network configuration" });
  return document.ok && namesPlexus(document.value.parsed, plexusTypes);
}

/** Whether a parsed configuration names Plexus as a plugin, at any depth. */
export function namesPlexus(parsed: Readonly<Record<string, unknown>>, plexusTypes: readonly string[]): boolean {
  return ["", ...plexusTypes].some((type) => plexusTypeIn(parsed, { type }) !== undefined);
}

/** Whether the plugin type is Plexus under one of its names or of `plexusTypes`. */
export function isPlexusType(type: string, plexusTypes: readonly string[]): boolean {
  return isPlexusName(type, { type: "plexus" }) || plexusTypes.includes(type);
}

/**
 * The wanted network; broken files are passed over, as CRI-O does. Fault NO_DEFAULT_NETWORK: no file is one; the pinned file is missing,
 * broken, or runs Plexus.
 */
export function findDirectoryNetwork(
  directory: ConfigDirectory,
  { pinned, plexusTypes }: NetworkWanted,
): Result<DirectoryNetwork> {
  const candidates = configurationFiles(directory.files).filter(
    ({ path }) => pinned === undefined || path === `${directory.path}/${pinned}`,
  );
  const passedOver: string[] = [];
  for (const file of candidates) {
    const text = "text" in file ? ok(file.text) : failed(fault("CONFIG_INVALID", `${file.path}: ${file.unreadable}`));
    const isPlexus = text.ok && runsPlexus(text.value, plexusTypes);
    const list = isPlexus
      ? failed(fault("CONFIG_INVALID", `${file.path} runs Plexus itself`))
      : text.ok
        ? load(directory, file.path, text.value)
        : text;
    if (list.ok && list.value.plugins.some(({ type }) => isPlexusType(type, plexusTypes))) continue;
    if (list.ok) {
      const capabilities = [...new Set(list.value.plugins.flatMap((plugin) => plugin.capabilities))];
      return ok({ path: file.path, name: list.value.name, list: list.value, capabilities, passedOver });
    }
    const { msg } = list.fault;
    if (!isPlexus || pinned !== undefined) passedOver.push(msg.includes(file.path) ? msg : `${file.path}: ${msg}`);
  }
  const wanted =
    pinned === undefined ? "no network configuration without Plexus" : `no usable network configuration ${quote(pinned)}`;
  const why = passedOver.length === 0 ? "" : `: ${passedOver.slice(0, 3).join("; ")}`;
  return failed(fault("NO_DEFAULT_NETWORK", `${directory.path} has ${wanted}${why}`));
}

/** The list in a file. A file of either form is read by its content, because `.json` may hold both. */
function load(directory: ConfigDirectory, path: string, text: string): Result<NetworkList> {
  const document = parseDocument(text, { what: path });
  if (!document.ok) return document;
  if (!path.endsWith(".conflist") && !document.value.members.has("plugins")) {
    const plugin = parsePluginConf(text, path);
    return plugin.ok ? listOfOne(plugin.value, path) : plugin;
  }
  const list = parseNetworkList(text, path);
  return list.ok ? appendSubdirectoryPlugins(list.value, directory.subdirectories?.get(list.value.name) ?? []) : list;
}
