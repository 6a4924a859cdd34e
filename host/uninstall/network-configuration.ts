// Plexus' own file in the runtime's directory of network configurations, and which network a runtime takes once that is gone.

import { realpathSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { filesWith } from "../../src/cni/config-directory.ts";
import { parseNetworkList, parsePluginConf } from "../../src/cni/network-list.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { parseDocument } from "../../src/json/document.ts";
import { isItself } from "../brain/itself.ts";
import { settingsIn } from "../explain/host-settings.ts";
import { readConfigurationDirectory } from "../files/configuration-directory.ts";
import { storeFault } from "../files/durable-file.ts";
import { digestOf } from "./installed-files.ts";

/** What a file is called that no runtime shall read any more: none reads another ending than libcni's three. */
export const asideEnding = ".uninstalled";

export interface NetworkConfigurations {
  /** Files that name Plexus as their plugin, in the order in which a runtime reads them. */
  readonly ours: readonly string[];
  /** The first that doesn't: the network of the pods that come next. */
  readonly heir: string | undefined;
  /** `cniDir` of ours, also of those that were put aside before. */
  readonly stateDirectories: readonly string[];
  /** Why one of these doesn't say where its state is; then what is attached isn't known. */
  readonly unreadable: string | undefined;
}

/** Fault STORE_FAILED. */
export function findConfigurations(directory: string, cniPath: string): Result<NetworkConfigurations> {
  const read = readConfigurationDirectory(directory);
  if (!read.ok) return read;
  const { files } = read.value;
  const valid = filesWith([".conf", ".conflist", ".json"], files).flatMap((file) => {
    const types = "text" in file ? typesIn(file.text) : [];
    return types.length === 0 ? [] : [{ path: file.path, ours: types.some((type) => isOurs(type, cniPath)) }];
  });
  const ours = valid.filter((each) => each.ours).map(({ path }) => path);
  const aside = files.map(({ path }) => path).filter((path) => path.endsWith(asideEnding));
  const settings = [...ours, ...aside].map((path) => settingsIn(path, cniPath));
  const stateDirectories = settings.flatMap((each) => (each.ok && each.value ? [each.value.configuration.cniDir] : []));
  const unreadable = settings.flatMap((each) => (each.ok ? [] : [each.fault.msg]))[0];
  const heir = valid.find((each) => !each.ours)?.path;
  return ok({ ours, heir, stateDirectories: [...new Set(stateDirectories)], unreadable });
}

/** A runtime doesn't see the file from here on. Fault STORE_FAILED. */
export function putAside(path: string): Result<void> {
  try {
    return ok(renameSync(path, path + asideEnding));
  } catch (error) {
    return failed(storeFault("putting aside", path, error));
  }
}

/** Multus' names are ours only where an administrator made them so: Multus itself may run beside. */
function isOurs(type: string, cniPath: string): boolean {
  if (type === "plexus") return true;
  return (
    isItself(type, { type: "plexus" }) &&
    cniPath.split(":").some((directory) => isUs(join(directory, type), join(directory, "plexus")))
  );
}

/** A link to our executable, or a copy of it. */
function isUs(path: string, own: string): boolean {
  try {
    if (realpathSync(path) === realpathSync(own)) return true;
    return statSync(path).size === statSync(own).size && digestOf(path) === digestOf(own);
  } catch {
    return false;
  }
}

/** Of the plugins that a file configures; none where no runtime could read it. */
function typesIn(text: string): readonly string[] {
  const document = parseDocument(text, { what: "network configuration" });
  if (!document.ok) return [];
  if (document.value.members.has("plugins")) {
    const list = parseNetworkList(text);
    return list.ok ? list.value.plugins.map(({ type }) => type) : [];
  }
  const plugin = parsePluginConf(text, "network configuration");
  return plugin.ok ? [plugin.value.type] : [];
}
