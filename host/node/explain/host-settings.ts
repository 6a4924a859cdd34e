// Plexus' own configuration as a runtime would give it: for who explains without being called.

import { statSync } from "node:fs";
import { filesWith } from "../../src/cni/config-directory.ts";
import { listOfOne, type NetworkList, parseNetworkList, parsePluginConf, type PluginConf } from "../../src/cni/network-list.ts";
import { statusStdin } from "../../src/cni/step-request.ts";
import type { HostConfiguration } from "../../src/configuration/host-configuration.ts";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { type JsonObjectDocument, memberValue, parseDocument } from "../../src/json/document.ts";
import { isItself } from "../brain/itself.ts";
import { readCallConfiguration } from "../brain/read-configuration.ts";
import { configurationFile, readConfigurationDirectory } from "../files/configuration-directory.ts";
import { storeFault } from "../files/durable-file.ts";
import { errnoOf } from "../files/errno.ts";
import { readRegularFile } from "../files/regular-file.ts";

export interface HostSettings {
  /** The file that the runtime reads. */
  readonly path: string;
  readonly document: JsonObjectDocument;
  readonly configuration: HostConfiguration;
  /** Directories of plugins, `binDir` first. */
  readonly cniPath: string;
}

/**
 * Reads the configuration at `path`: a file, or a directory whose first file with a plugin of Plexus' type counts, as the runtime
 * sees it. Undefined where the directory has none. Faults: CONFIG_INVALID, CONFIG_NOT_JSON, STORE_FAILED.
 */
export function readHostSettings(path: string, cniPath: string): Result<HostSettings | undefined> {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) {
    const settings = settingsIn(path, cniPath);
    if (!settings.ok || settings.value !== undefined) return settings;
    return failed(fault("CONFIG_INVALID", `${path}: none of its plugins is Plexus (type plexus or multus)`));
  }
  const directory = readConfigurationDirectory(path);
  if (!directory.ok) return directory;
  for (const file of filesWith([".conf", ".conflist", ".json"], directory.value.files)) {
    // A file that is broken or another plugin's is the runtime's matter.
    const settings = settingsIn(file.path, cniPath);
    if (!settings.ok && settings.fault.kind === "CONFIG_INVALID") return settings;
    if (settings.ok && settings.value !== undefined) return settings;
  }
  return ok(undefined);
}

/** The settings that a file has; undefined where it is a network of others. */
export function settingsIn(path: string, cniPath: string): Result<HostSettings | undefined> {
  let text: string;
  try {
    text = readRegularFile(path, configurationFile);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return failed(fault("STORE_FAILED", `there is no ${path}`));
    return failed(storeFault("reading", path, error));
  }
  const parsed = parseDocument(text, { what: path });
  if (!parsed.ok) return parsed;
  const own = ownPlugin(parsed.value, path);
  if (own === undefined) return ok(undefined);
  const stdin = parseDocument(statusStdin(own.list, own.plugin), { what: path });
  if (!stdin.ok) return stdin;
  const binDir = memberValue(stdin.value, "binDir");
  const directories = typeof binDir === "string" && binDir !== "" ? `${binDir}:${cniPath}` : cniPath;
  const read = readCallConfiguration({ verb: "STATUS", path: directories }, stdin.value);
  if (!read.ok) return failed({ ...read.fault, msg: `${path}: ${read.fault.msg}` });
  return ok({ path, ...read.value, cniPath: directories });
}

function ownPlugin(
  document: JsonObjectDocument,
  path: string,
): { readonly list: NetworkList; readonly plugin: PluginConf } | undefined {
  const list = document.members.has("plugins") ? parseNetworkList(document.text, path) : listOf(document, path);
  const plugin = list.ok ? list.value.plugins.find(({ type }) => isItself(type, { type: "plexus" })) : undefined;
  return list.ok && plugin !== undefined ? { list: list.value, plugin } : undefined;
}

function listOf(document: JsonObjectDocument, path: string): Result<NetworkList> {
  const plugin = parsePluginConf(document.text, path);
  return plugin.ok ? listOfOne(plugin.value, path) : plugin;
}
