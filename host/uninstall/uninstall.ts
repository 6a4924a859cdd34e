// Takes Plexus off a node, in an order in which no moment leaves a pod without a network or without its DEL: first its configuration, so
// that the next pods come through the network that is there besides; then, once nothing is attached, the files.

import { ok, type Result } from "../../src/fault/result.ts";
import { NodeStateReader } from "../node-state/node-state-reader.ts";
import { readInstalledFiles } from "./installed-files.ts";
import { findConfigurations, putAside } from "./network-configuration.ts";
import { type LeftFile, removeFiles } from "./remove-files.ts";

export interface UninstallInit {
  /** The runtime's directory of network configurations. */
  readonly configurations: string;
  /** Directories of plugins, colons between them. */
  readonly cniPath: string;
  /** `cniDir` where no configuration says it. */
  readonly stateDir: string;
  readonly home: string;
  /** Whether a daemon serves calls. */
  readonly daemonRuns: () => Promise<boolean>;
  /** Nothing is changed. */
  readonly dryRun: boolean;
}

export interface UninstallReport {
  readonly dryRun: boolean;
  /** Configurations that a runtime reads no more, by the names that they had. */
  readonly released: readonly string[];
  /** The file of the network that the next pods get. */
  readonly heir: string | undefined;
  readonly removed: readonly string[];
  readonly left: readonly LeftFile[];
  /** Why it isn't done, and what to do; undefined where it is. */
  readonly stopped: { readonly why: string; readonly remedy: string } | undefined;
}

const again = "then run this again";

/** Does as much as may be done now, and says what is in the way of the rest. Fault STORE_FAILED. */
export async function uninstall(init: UninstallInit): Promise<Result<UninstallReport>> {
  const { configurations, cniPath, dryRun, home } = init;
  const found = findConfigurations(configurations, cniPath);
  if (!found.ok) return found;
  const { ours, heir, stateDirectories, unreadable } = found.value;
  const report = { dryRun, heir, released: [], removed: [], left: [] } as const;
  if (ours.length > 0 && heir === undefined) {
    const why = `${configurations} has no other network configuration: without Plexus' the node would have no network`;
    const remedy = `put the default network's own file there (Plexus' has its path as clusterNetwork, or its text as delegates), ${again}`;
    return ok({ ...report, stopped: { why, remedy } });
  }
  for (const path of dryRun ? [] : ours) {
    const aside = putAside(path);
    if (!aside.ok) return aside;
  }
  const released = ours;
  if (unreadable !== undefined) {
    const remedy = `correct it, so that it says where the state of attachments is (cniDir), ${again}`;
    return ok({ ...report, released, stopped: { why: unreadable, remedy } });
  }
  const attached = await attachedIn([...new Set([...stateDirectories, init.stateDir])]);
  if (attached !== undefined) return ok({ ...report, released, stopped: attached });
  if (await init.daemonRuns()) {
    const stopped = { why: "plexusd runs", remedy: `systemctl disable --now plexusd plexus-hands, ${again}` };
    return ok({ ...report, released, stopped });
  }
  const files = readInstalledFiles(home);
  if (!files.ok) return ok({ ...report, released, stopped: { why: files.fault.msg, remedy: "remove Plexus' files by hand" } });
  const cniBin = cniPath.split(":").filter((directory) => directory.startsWith("/"));
  const { removed, left } = removeFiles({ home, cniBin, files: files.value, dryRun });
  return ok({ ...report, released, removed, left, stopped: undefined });
}

/** What still needs Plexus for its DEL. */
async function attachedIn(directories: readonly string[]): Promise<UninstallReport["stopped"]> {
  for (const directory of directories) {
    const { attachments, problems } = await new NodeStateReader(directory).read();
    // Of one that is unknown nothing was ever attached by us, as far as anybody knows.
    const needing = attachments.filter(({ state }) => state !== "detached" && state !== "unknown");
    const containers = new Set(needing.map(({ container }) => container));
    if (containers.size > 0) {
      const pods = containers.size === 1 ? "1 pod has" : `${containers.size} pods have`;
      const remedy = `drain the node or delete them (plexusctl attachments --state-dir ${directory} lists them), ${again}`;
      return { why: `${pods} networks of Plexus, whose DEL needs it`, remedy };
    }
    const [problem] = problems;
    if (problem !== undefined)
      return { why: `${directory}: ${problem}`, remedy: `see what it was about and remove it, ${again}` };
  }
  return undefined;
}
