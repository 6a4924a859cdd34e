// Removes Plexus from a node. Each pod has a network and a DEL at every moment: first Plexus' network configuration is renamed, so that
// new pods get the node's other network configuration; then, once no pod is attached through Plexus, its files are removed.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { ok, type Result } from "../../../src/fault/result.ts";
import { countAttached } from "./pods-of-plexus.ts";
import { type InstalledFile, listName, listNameBesidePlugins, readInstalledFiles } from "./installed-files.ts";
import { findConfigurations, putAllAside } from "./network-configuration.ts";
import { type LeftFile, removeFiles } from "./remove-files.ts";

/** The settings of a removal. */
export interface UninstallTerms {
  /** The runtime's directory of network configurations. */
  readonly configurations: string;
  /** Directories of plugins, separated by colons. */
  readonly cniPath: string;
  /** The state directory (`cniDir`) to read besides those of the configurations. */
  readonly stateDir: string;
  /** The directory that `plexusctl install` made (`/opt/plexus`). */
  readonly home: string;
  /** Makes a daemon that writes the network configuration remove its file, which it would restore otherwise. */
  readonly withdraw: () => Promise<void>;
  /** Whether a daemon answers on its status socket. */
  readonly daemonRuns: () => Promise<boolean>;
  /** True: only report, change nothing. */
  readonly dryRun: boolean;
  /** True: remove the files although attached pods need Plexus for their DEL. */
  readonly force: boolean;
}

/** The document that `plexusctl uninstall -o json` prints. */
export interface UninstallReport {
  readonly dryRun: boolean;
  /** Plexus' network configurations that were renamed, by their paths before. */
  readonly released: readonly string[];
  /** The network configuration that new pods get. */
  readonly heir: string | undefined;
  /** Paths of the removed files. */
  readonly removed: readonly string[];
  /** Files that stay, each with the reason. */
  readonly left: readonly LeftFile[];
  /** Attachments that remain without Plexus, a text for each kind and state directory. */
  readonly abandoned: readonly string[];
  /** The reason why the removal is unfinished, and its remedy; undefined if the removal is complete. */
  readonly stopped: { readonly why: string; readonly remedy: string } | undefined;
}

const again = "then run plexusctl uninstall again";

/** Removes as much as is safe now, and reports what prevents the rest. Fault STORE_FAILED. */
export async function uninstall(terms: UninstallTerms): Promise<Result<UninstallReport>> {
  const { configurations, cniPath, dryRun, home } = terms;
  const found = findConfigurations(configurations, cniPath);
  if (!found.ok) return found;
  const { plexusFiles, heir, stateDirectories, unreadable } = found.value;
  const report = { dryRun, heir, released: [], removed: [], left: [], abandoned: [] } as const;
  if (plexusFiles.length > 0 && heir === undefined) {
    const why = `${configurations} has no network configuration besides Plexus': without Plexus the node would have no network`;
    const remedy = `put the default network's configuration into ${configurations} (Plexus' configuration has its path as clusterNetwork or its text in delegates), ${again}`;
    return ok({ ...report, stopped: { why, remedy } });
  }
  const aside = dryRun ? ok(undefined) : await putAllAside(plexusFiles, terms.withdraw);
  if (!aside.ok) return aside;
  const released = plexusFiles;
  if (unreadable !== undefined) {
    const remedy = `correct the file, because its cniDir names the state of the attachments, ${again}`;
    return ok({ ...report, released, stopped: { why: unreadable, remedy } });
  }
  const directories = [...new Set([...stateDirectories, terms.stateDir])];
  const attached = terms.force ? undefined : attachedIn(directories);
  if (attached !== undefined) return ok({ ...report, released, stopped: attached });
  if (await terms.daemonRuns()) {
    const stopped = { why: "plexusd is running", remedy: `systemctl disable --now plexusd plexus-agent, ${again}` };
    return ok({ ...report, released, stopped });
  }
  const cniBin = cniPath.split(":").filter((directory) => directory.startsWith("/"));
  const files = readInstalledFiles(join(home, listName));
  if (!files.ok) return ok({ ...report, released, stopped: { why: files.fault.msg, remedy: "remove Plexus' files by hand" } });
  const elsewhere = terms.force ? undefined : pluginsElsewhere(cniBin, files.value);
  if (elsewhere !== undefined) return ok({ ...report, released, stopped: elsewhere });
  const { removed, left } = removeFiles(home, cniBin, files.value, dryRun);
  return ok({ ...report, released, removed, left, abandoned: abandonedIn(directories), stopped: undefined });
}

/** Undefined if no pod needs Plexus for its DEL; otherwise what prevents the removal. */
function attachedIn(directories: readonly string[]): UninstallReport["stopped"] {
  for (const directory of directories) {
    const { pods, problem } = countAttached(directory);
    if (pods > 0) {
      const have = pods === 1 ? "1 pod has" : `${pods} pods have`;
      const remedy = `drain the node or delete the pods (plexusctl attachments --state-dir ${directory} lists them), ${again}`;
      return { why: `${have} networks of Plexus, and their DEL needs Plexus`, remedy };
    }
    if (problem !== undefined)
      return {
        why: `${directory}: ${problem}`,
        remedy: `read the file, remove what its attachment left, remove the file, ${again}`,
      };
  }
  return undefined;
}

/** The obstacle to a removal if none of these directories has a file of the installation: the list does not name its directory of plugins. */
function pluginsElsewhere(cniBin: readonly string[], files: readonly InstalledFile[]): UninstallReport["stopped"] {
  const names = [listNameBesidePlugins, ...files.flatMap(({ place, name }) => (place === "cni-bin" ? [name] : []))];
  if (cniBin.some((directory) => names.some((name) => existsSync(join(directory, name))))) return undefined;
  const why = `${cniBin.join(", ")} has no file of this installation, whose plugins would stay in another directory`;
  const remedy = `name the directory with --cni-path, ${again}; if its files are gone already, with --force`;
  return { why, remedy };
}

/** Texts about the attachments that remain after Plexus' files are removed, for each state directory. */
function abandonedIn(directories: readonly string[]): readonly string[] {
  return directories.flatMap((directory) => {
    const { pods, records } = countAttached(directory);
    const running = pods === 0 ? [] : [`${directory}: pods still attached: ${pods}; no program serves their DEL`];
    const left = `${directory}: records of deleted pods: ${records}; their addresses and host links may stay reserved`;
    return records === 0 ? running : [...running, left];
  });
}
