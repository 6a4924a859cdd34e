// Reads Plexus' own configuration from its file, as the runtime would pass it on stdin. For plexusctl, which no runtime calls.

import { filesWith } from "../../../src/cni/config-directory.ts";
import {
  listOfOne,
  type NetworkList,
  parseNetworkList,
  parsePluginConf,
  type PluginConf,
} from "../../../src/cni/network-list.ts";
import { statusStdin } from "../../../src/cni/step-request.ts";
import { isPlexusName } from "../../../src/configuration/definition-policy.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { type JsonObjectDocument, memberValue, parseDocument } from "../../../src/json/document.ts";
import { readCallConfiguration } from "../../engine/call/read-configuration.ts";
import { configurationFile, readConfigurationDirectory } from "../../store/files/configuration-directory.ts";
import { storeFault } from "../../store/files/durable-file.ts";
import { errnoOf } from "../../store/files/errno.ts";
import { readRegularFile } from "../../store/files/regular-file.ts";
import { statsOf } from "../../store/files/stats-of.ts";

/** Plexus' own configuration. */
export interface HostSettings {
  /** The file that the runtime reads. */
  readonly path: string;
  readonly document: JsonObjectDocument;
  readonly configuration: HostConfiguration;
  /** Directories of plugins, `binDir` first. */
  readonly cniPath: string;
}

/**
 * Reads the configuration at `path`: a file, or a directory, of which the first file with a plugin of Plexus' type counts, in the
 * runtime's order. Undefined if the directory has no such file. Faults: CONFIG_INVALID, FIELD_UNSUPPORTED, CONFIG_NOT_JSON, STORE_FAILED.
 */
export function readHostSettings(path: string, cniPath: string): Result<HostSettings | undefined> {
  if (statsOf(path)?.isDirectory() !== true) {
    const settings = settingsIn(path, cniPath);
    if (!settings.ok || settings.value !== undefined) return settings;
    return failed(fault("CONFIG_INVALID", `${path}: none of its plugins is Plexus (type plexus or multus)`));
  }
  const directory = readConfigurationDirectory(path);
  if (!directory.ok) return directory;
  for (const file of filesWith([".conf", ".conflist", ".json"], directory.value.files)) {
    // Files that are not JSON, unreadable or without Plexus are skipped, as a runtime skips them.
    const settings = settingsIn(file.path, cniPath);
    if (!settings.ok && isMistake(settings.fault)) return settings;
    if (settings.ok && settings.value !== undefined) return settings;
  }
  return ok(undefined);
}

/** Whether the fault is a mistake in Plexus' configuration, and not an unreadable file. */
export function isMistake({ kind }: Fault): boolean {
  return kind === "CONFIG_INVALID" || kind === "FIELD_UNSUPPORTED";
}

/** The settings in a file; undefined if none of its plugins is Plexus. Faults: those of readHostSettings. */
export function settingsIn(path: string, cniPath: string): Result<HostSettings | undefined> {
  let text: string;
  try {
    text = readRegularFile(path, configurationFile);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return failed(fault("STORE_FAILED", `${path} does not exist`));
    return failed(storeFault("reading", path, error));
  }
  const parsed = parseDocument(text, { what: path });
  if (!parsed.ok) return parsed;
  const found = plexusPlugin(parsed.value, path);
  if (found === undefined) return ok(undefined);
  const stdin = parseDocument(statusStdin(found.list, found.plugin), { what: path });
  if (!stdin.ok) return stdin;
  const binDir = memberValue(stdin.value, "binDir");
  const directories = typeof binDir === "string" && binDir !== "" ? `${binDir}:${cniPath}` : cniPath;
  const read = readCallConfiguration({ verb: "STATUS", path: directories }, stdin.value);
  if (!read.ok) return failed({ ...read.fault, msg: `${path}: ${read.fault.msg}` });
  return ok({ path, ...read.value, cniPath: directories });
}

/** The plugin of Plexus' type in the document, and its list. */
function plexusPlugin(
  document: JsonObjectDocument,
  path: string,
): { readonly list: NetworkList; readonly plugin: PluginConf } | undefined {
  const list = document.members.has("plugins") ? parseNetworkList(document.text, path) : listOf(document, path);
  const plugin = list.ok ? list.value.plugins.find(({ type }) => isPlexusName(type, { type: "plexus" })) : undefined;
  return list.ok && plugin !== undefined ? { list: list.value, plugin } : undefined;
}

function listOf(document: JsonObjectDocument, path: string): Result<NetworkList> {
  const plugin = parsePluginConf(document.text, path);
  return plugin.ok ? listOfOne(plugin.value, path) : plugin;
}
