// Finding a network in a directory of configurations (L-20..L-24). The files come as data; the rules about names, order,
// subdirectories and broken files are here.

import { type Fault, fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { quote } from "../json/quote.ts";
import { listOfOne, type NetworkList, parseNetworkList, parsePluginConf } from "./network-list.ts";

/** A file with its text, or with why it could not be read. */
export type ConfigFile =
  | { readonly path: string; readonly text: string }
  | { readonly path: string; readonly unreadable: string };

export interface ConfigDirectory {
  readonly path: string;
  /** Its files, in any order; directories left out. */
  readonly files: readonly ConfigFile[];
  /** The files of its subdirectories, by the subdirectory's name; one that is missing is empty. */
  readonly subdirectories?: ReadonlyMap<string, readonly ConfigFile[]>;
}

export interface FoundNetwork {
  readonly list: NetworkList;
  /** The file that it came from. */
  readonly path: string;
  /** Files that were passed over because they are broken. */
  readonly warnings: readonly Fault[];
}

/** The endings of files that are read as lists and as single configurations. */
export interface ConfigExtensions {
  readonly lists: readonly string[];
  readonly singles: readonly string[];
}

/** Those of libcni. */
const EXTENSIONS: ConfigExtensions = { lists: [".conflist"], singles: [".conf", ".json"] };
const SUBDIRECTORY_EXTENSIONS = [".conf"];

/** What Go's filepath.Ext says: from the last dot of the last component on, be it the first character. */
function extensionOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return dot === -1 ? "" : name.slice(dot);
}

/** Order of the names' bytes, as Go sorts: not that of UTF-16 units, which puts some characters elsewhere. */
function byBytes(left: ConfigFile, right: ConfigFile): number {
  const [a, b] = [Array.from(left.path), Array.from(right.path)];
  const at = a.findIndex((character, index) => character !== b[index]);
  if (at === -1) return a.length - b.length;
  return (a[at]?.codePointAt(0) ?? 0) - (b[at]?.codePointAt(0) ?? -1);
}

/** The files whose extension is exactly one of those given, in the order of their names (L-23). */
export function filesWith(extensions: readonly string[], files: readonly ConfigFile[]): readonly ConfigFile[] {
  return files.filter(({ path }) => extensions.includes(extensionOf(path))).toSorted(byBytes);
}

function textOf(file: ConfigFile): Result<string> {
  if ("text" in file) return ok(file.text);
  return failed(fault("CONFIG_INVALID", `error reading ${file.path}: ${file.unreadable}`));
}

/**
 * The list with the plugins of its subdirectory behind its own (L-20): of `files`, those that end in `.conf`, by name. With
 * `loadOnlyInlinedPlugins` they are not looked at (L-22). Faults: a broken file's, CONFIG_INVALID (7) for a list without any plugin.
 */
export function appendSubdirectoryPlugins(list: NetworkList, files: readonly ConfigFile[]): Result<NetworkList> {
  const plugins = [...list.plugins];
  for (const file of list.loadOnlyInlinedPlugins ? [] : filesWith(SUBDIRECTORY_EXTENSIONS, files)) {
    const text = textOf(file);
    if (!text.ok) return text;
    const plugin = parsePluginConf(text.value, `plugin configuration ${file.path}`);
    if (!plugin.ok) return plugin;
    plugins.push(plugin.value);
  }
  if (plugins.length === 0) return failed(fault("CONFIG_INVALID", `network ${quote(list.name)}: no plugin configs found`));
  return ok({ ...list, plugins });
}

function loadList(directory: ConfigDirectory, file: ConfigFile): Result<NetworkList> {
  const text = textOf(file);
  if (!text.ok) return text;
  const list = parseNetworkList(text.value, `configuration list ${file.path}`);
  // The name was checked as it was parsed: it cannot name another directory than one beside the file (L-21).
  return list.ok ? appendSubdirectoryPlugins(list.value, directory.subdirectories?.get(list.value.name) ?? []) : list;
}

function loadSingle(file: ConfigFile, name: string): Result<NetworkList | undefined> {
  const text = textOf(file);
  if (!text.ok) return text;
  const plugin = parsePluginConf(text.value, `configuration ${file.path}`);
  if (!plugin.ok) return plugin;
  return plugin.value.name === name ? listOfOne(plugin.value, `configuration ${file.path}`) : ok(undefined);
}

/**
 * Finds a network by name (L-24): lists first, then single configurations, each in the order of their names; the first that
 * matches wins. A broken file before the match is passed over with a warning, or, `strict`, ends the search as libcni's does.
 * Faults: NETWORK_UNKNOWN (7) where nothing matches (it says when there are no configurations at all), a broken file's where strict.
 */
export function findNetwork(
  directory: ConfigDirectory,
  name: string,
  strict = false,
  extensions: ConfigExtensions = EXTENSIONS,
): Result<FoundNetwork> {
  const warnings: Fault[] = [];
  const lists = filesWith(extensions.lists, directory.files);
  const singles = filesWith(extensions.singles, directory.files);
  for (const file of [...lists, ...singles]) {
    const loaded = lists.includes(file) ? loadList(directory, file) : loadSingle(file, name);
    if (!loaded.ok) {
      if (strict) return loaded;
      warnings.push(loaded.fault);
    } else if (loaded.value?.name === name) {
      return ok({ list: loaded.value, path: file.path, warnings });
    }
  }
  const msg =
    lists.length + singles.length === 0
      ? `no net configurations found in ${directory.path}`
      : `no net configuration with name ${quote(name)} in ${directory.path}`;
  const details = warnings.map((warning) => `passed over: ${warning.msg}`).join("\n");
  return failed(fault("NETWORK_UNKNOWN", msg, { details }));
}
