// Plexus' files in the runtime's directory of network configurations, and the configuration that the runtime uses without them.

import { constants, copyFileSync, existsSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { filesWith } from "../../../src/cni/config-directory.ts";
import { parseNetworkList, parsePluginConf } from "../../../src/cni/network-list.ts";
import { isPlexusName } from "../../../src/configuration/definition-policy.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { parseDocument } from "../../../src/json/document.ts";
import { readConfigurationDirectory } from "../../store/files/configuration-directory.ts";
import { storeFault } from "../../store/files/durable-file.ts";
import { settingsIn } from "../explain/host-settings.ts";
import { digestOf } from "./installed-files.ts";

/** The suffix of a deactivated configuration. Runtimes read only libcni's three: `.conf`, `.conflist` and `.json`. */
export const asideEnding = ".uninstalled";

/** The network configurations of a runtime's directory. */
export interface NetworkConfigurations {
  /** Files with Plexus as a plugin, in the order in which a runtime reads them. */
  readonly plexusFiles: readonly string[];
  /** The first file without Plexus: the network of new pods once Plexus' files are renamed. */
  readonly heir: string | undefined;
  /** The `cniDir` of each of Plexus' files, including files that were renamed earlier. */
  readonly stateDirectories: readonly string[];
  /** The error of a Plexus file whose `cniDir` cannot be read. The attached pods are then unknown. */
  readonly unreadable: string | undefined;
}

/** Reads the runtime's directory of network configurations. Fault STORE_FAILED. */
export function findConfigurations(directory: string, cniPath: string): Result<NetworkConfigurations> {
  const read = readConfigurationDirectory(directory);
  if (!read.ok) return read;
  const { files } = read.value;
  const valid = filesWith([".conf", ".conflist", ".json"], files).flatMap((file) => {
    const types = "text" in file ? typesIn(file.text) : [];
    return types.length === 0 ? [] : [{ path: file.path, isPlexus: types.some((type) => isPlexusType(type, cniPath)) }];
  });
  const plexusFiles = valid.filter(({ isPlexus }) => isPlexus).map(({ path }) => path);
  const aside = files.map(({ path }) => path).filter((path) => path.endsWith(asideEnding));
  const settings = [...plexusFiles, ...aside].map((path) => settingsIn(path, cniPath));
  const stateDirectories = settings.flatMap((each) => (each.ok && each.value ? [each.value.configuration.cniDir] : []));
  const unreadable = settings.flatMap((each) => (each.ok ? [] : [each.fault.msg]))[0];
  const heir = valid.find(({ isPlexus }) => !isPlexus)?.path;
  return ok({ plexusFiles, heir, stateDirectories: [...new Set(stateDirectories)], unreadable });
}

/**
 * Renames the files, so that no runtime reads them. A daemon that wrote one would restore it, so `withdraw` makes the daemon remove its own;
 * the copy that stays names the state directory. Fault STORE_FAILED.
 */
export async function putAllAside(paths: readonly string[], withdraw: () => Promise<void>): Promise<Result<void>> {
  let doing = "";
  try {
    for (const path of paths) {
      doing = path;
      // A link there would lead the copy to another file.
      rmSync(path + asideEnding, { force: true });
      copyFileSync(path, path + asideEnding, constants.COPYFILE_EXCL);
    }
    if (paths.length > 0) await withdraw();
    for (const path of paths) {
      doing = path;
      if (existsSync(path)) renameSync(path, path + asideEnding);
    }
    return ok(undefined);
  } catch (error) {
    return failed(storeFault("renaming", doing, error));
  }
}

/**
 * Whether the plugin type runs Plexus. A type of Multus does only if its executable is Plexus: Multus itself may be installed, too.
 */
function isPlexusType(type: string, cniPath: string): boolean {
  if (type === "plexus") return true;
  return (
    isPlexusName(type, { type: "plexus" }) &&
    cniPath.split(":").some((directory) => isSameProgram(join(directory, type), join(directory, "plexus")))
  );
}

/** Whether `path` is a link to the executable `plexus`, or a copy of it. */
function isSameProgram(path: string, plexus: string): boolean {
  try {
    if (realpathSync(path) === realpathSync(plexus)) return true;
    return statSync(path).size === statSync(plexus).size && digestOf(path) === digestOf(plexus);
  } catch {
    return false;
  }
}

/** The types of the plugins that a file configures; empty if the file is not a valid network configuration. */
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
