// Finds a network in a directory of configurations (L-20..L-24). The files come as data; the rules about names, order,
// subdirectories and broken files are here.

import { type Fault, fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { quote } from "../json/quote.ts";
import { listOfOne, type NetworkList, parseNetworkList, parsePluginConf } from "./network-list.ts";

/** A file with its text, or with the reason why it could not be read. */
export type ConfigFile =
  | { readonly path: string; readonly text: string }
  | { readonly path: string; readonly unreadable: string };

/** A directory of network configurations, as data. */
export interface ConfigDirectory {
  readonly path: string;
  /** The directory's files, in any order, without its subdirectories. */
  readonly files: readonly ConfigFile[];
  /** The files of each subdirectory, by the subdirectory's name. A missing subdirectory counts as empty. */
  readonly subdirectories?: ReadonlyMap<string, readonly ConfigFile[]>;
}

/** A network that was found by its name. */
export interface FoundNetwork {
  readonly list: NetworkList;
  /** The file that the network came from. */
  readonly path: string;
  /** Broken files that were passed over. */
  readonly warnings: readonly Fault[];
}

/** File name extensions of configuration lists and of single configurations. */
export interface ConfigExtensions {
  readonly lists: readonly string[];
  readonly singles: readonly string[];
}

/** libcni's extensions. */
const EXTENSIONS: ConfigExtensions = { lists: [".conflist"], singles: [".conf", ".json"] };
const SUBDIRECTORY_EXTENSIONS = [".conf"];

/** Go's filepath.Ext: the text from the last dot of the last path component on, even if the dot is its first character. */
function extensionOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return dot === -1 ? "" : name.slice(dot);
}

/** Sorts by the bytes of the names, as Go does. UTF-16 order differs for some characters. */
function byBytes(left: ConfigFile, right: ConfigFile): number {
  const [a, b] = [Array.from(left.path), Array.from(right.path)];
  const at = a.findIndex((character, index) => character !== b[index]);
  if (at === -1) return a.length - b.length;
  return (a[at]?.codePointAt(0) ?? 0) - (b[at]?.codePointAt(0) ?? -1);
}

/** The files with exactly one of these extensions, sorted by name (L-23). */
export function filesWith(extensions: readonly string[], files: readonly ConfigFile[]): readonly ConfigFile[] {
  return files.filter(({ path }) => extensions.includes(extensionOf(path))).toSorted(byBytes);
}

function textOf(file: ConfigFile): Result<string> {
  if ("text" in file) return ok(file.text);
  return failed(fault("CONFIG_INVALID", `error reading ${file.path}: ${file.unreadable}`));
}

/**
 * The list with its subdirectory's plugins appended (L-20): the `.conf` files among `files`, sorted by name. With
 * `loadOnlyInlinedPlugins` the files are ignored (L-22). Faults: a broken file's; CONFIG_INVALID (7) for a list without any
 * plugin.
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
  // The parser checked the name, so it can only name a directory beside the file (L-21).
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
 * Finds a network by name (L-24): lists first, then single configurations, each sorted by file name; the first match wins. A
 * broken file before the match is passed over with a warning; with `strict` it ends the search, as in libcni. Faults:
 * NETWORK_UNKNOWN (7) without a match (the message says if the directory has no configurations at all); a broken file's if
 * `strict`.
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
