// Installs a release of Plexus on a node while pods start. All files are first written under temporary names, then their programs are run once, and
// only then each file gets its name, by one rename. Until the first rename a failure leaves the node as it was.

import { realpathSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { storeFault } from "../../store/files/durable-file.ts";
import { makeDirectory } from "../../store/files/make-directory.ts";
import { type CodeCaches, makeCodeCaches } from "./code-caches.ts";
import { guestScript } from "./code-cache-names.ts";
import { placeCode, stageCode, switchCode } from "./code-directory.ts";
import { type RemovedEngine, removeEngine } from "./earlier-installation.ts";
import { lockInstallation } from "./install-lock.ts";
import { directoryMode, makeNodeDirectory, nodeDirectory } from "./node-view.ts";
import { type InstallPlan, isComplete, makePlan, type PlannedFile } from "./plan.ts";
import type { InstalledPlaces } from "./remove-installation.ts";
import { readSource, selectComponents } from "./source.ts";
import { linkStaged, placeLink, syncToDisk, temporaryName, writeStaged } from "./staged-files.ts";
import { type TriedPrograms, tryPrograms } from "./try-programs.ts";

/** The settings of an installation. */
export interface NodeInstallation extends InstalledPlaces {
  /** The directory with the release. */
  readonly from: string;
  /** The executable of Node for a release without `bin/node`. */
  readonly ownNode: string;
  /** `off`: only the shim and the components are installed. */
  readonly oneShot: "node" | "off";
  /** `all`, `none`, or names separated by commas. */
  readonly components: string;
  /** Whether the release's own sandbox processes get a code cache, too: a container's daemon runs from the release, and not from the node. */
  readonly ownCaches: boolean;
}

/** The document that `plexusctl install -o json` prints. Paths are the node's. */
export interface InstallReport {
  readonly dryRun: boolean;
  /** Null without a one-shot engine on the node. */
  readonly home: string | null;
  readonly cniBin: string;
  readonly written: readonly string[];
  /** Number of files that had the right content already. */
  readonly unchanged: number;
  /** Components that stay because Plexus did not install them, and files of an earlier engine that could not be removed. */
  readonly kept: readonly { readonly path: string; readonly why: string }[];
  /** Code of earlier releases, and with `off` an earlier engine, that was removed (in a dry run: would be). */
  readonly removed: readonly string[];
  /** The programs that ran before the switch; null in a dry run. */
  readonly tried: TriedPrograms | null;
  /** V8's code caches; null in a dry run. */
  readonly codeCaches: CodeCaches | null;
}

/** Installs, or reports the changes. Faults INSTALL_REFUSED, STORE_FAILED; the node then has its previous programs. */
export function install(installation: NodeInstallation): Result<InstallReport> {
  const source = readSource(installation.from, installation.ownNode);
  if (!source.ok) return source;
  const components = selectComponents(source.value.components, installation.components);
  if (!components.ok) return components;
  const cniBin = nodeDirectory(installation.root, installation.cniBin);
  const home = nodeDirectory(installation.root, installation.home);
  const release = { ...source.value, components: components.value };
  const { oneShot } = installation;
  if (installation.dryRun) {
    const plan = makePlan(release, cniBin, home, oneShot);
    return plan.ok
      ? ok(reportOf(installation, plan.value, obsoleteOf(plan.value, true), { tried: null, codeCaches: null }))
      : plan;
  }
  for (const directory of oneShot === "off" ? [cniBin] : [cniBin, home]) {
    const made = makeNodeDirectory(installation.root, directory);
    if (!made.ok) return made;
  }
  const unlock = lockInstallation(cniBin.here);
  if (!unlock.ok) return unlock;
  try {
    const plan = makePlan(release, cniBin, home, oneShot);
    if (!plan.ok) return plan;
    return carryOut(installation, plan.value);
  } finally {
    unlock.value();
  }
}

function carryOut(installation: NodeInstallation, plan: InstallPlan): Result<InstallReport> {
  if (isComplete(plan)) {
    const tried = tryPrograms(plan.shim.path, plan.home);
    return tried.ok
      ? ok(reportOf(installation, plan, nothingRemoved, { tried: tried.value, codeCaches: cachesOf(installation, plan) }))
      : tried;
  }
  const staged = stage(plan);
  if (!staged.ok) return staged;
  const tried = tryPrograms(
    plan.shim.isInPlace ? plan.shim.path : temporaryName(plan.shim.path),
    plan.home && stageOf(plan.home),
  );
  if (!tried.ok) {
    removeStaged(plan);
    return tried;
  }
  try {
    const oldCode = switchTo(plan);
    const { removed, kept } = obsoleteOf(plan, false);
    const made = { tried: tried.value, codeCaches: cachesOf(installation, plan) };
    return ok(reportOf(installation, plan, { removed: [...oldCode, ...removed], kept }, made));
  } catch (error) {
    return failed(storeFault("installing into", plan.home ?? plan.cniBin, error));
  } finally {
    removeStaged(plan);
  }
}

/** Makes the code caches with the Node that reads them, after the switch: programs work without a cache, and a new one gets its name by a rename. */
function cachesOf({ from, ownNode, ownCaches, root }: NodeInstallation, { home, code }: InstallPlan): CodeCaches {
  const ofNode =
    home === undefined || code === undefined ? nothingCached : makeCodeCaches(join(home, "bin/node"), join(home, code.name));
  const own = ownCaches ? makeCodeCaches(ownNode, realpathSync(join(from, "engine")), [guestScript]) : nothingCached;
  return {
    written: [...ofNode.written.map((path) => pathOnNode(root, path)), ...own.written],
    failed: ofNode.failed ?? own.failed,
  };
}

const nothingCached: CodeCaches = { written: [], failed: null };

function pathOnNode(root: string, path: string): string {
  return root === "/" ? path : path.slice(root.replace(/\/$/, "").length);
}

const nothingRemoved: RemovedEngine = { removed: [], kept: [] };

/** Removes an engine that this installation has not. */
function obsoleteOf({ obsolete }: InstallPlan, dryRun: boolean): RemovedEngine {
  return obsolete === undefined ? nothingRemoved : removeEngine(obsolete, dryRun);
}

/** The directory that looks like the home directory after the switch. */
function stageOf(home: string): string {
  return join(home, ".staged");
}

function stage(plan: InstallPlan): Result<void> {
  const { home, code } = plan;
  let writing = plan.cniBin;
  try {
    removeStaged(plan);
    for (const file of [plan.shim, ...plan.components]) {
      writing = file.path;
      if (!file.isInPlace) writeStaged(temporaryName(file.path), file.source);
    }
    if (home === undefined || code === undefined) return ok(undefined);
    writing = home;
    makeDirectory(join(stageOf(home), "bin"), directoryMode);
    for (const file of plan.homeFiles) {
      writing = file.path;
      if (file.isInPlace) linkStaged(join(stageOf(home), file.source.name), file.path);
      else writeStaged(join(stageOf(home), file.source.name), file.source);
    }
    writing = join(home, code.name);
    if (code.isInPlace) placeLink(writing, join(stageOf(home), "engine"));
    else stageCode(code.from, join(stageOf(home), "engine"));
    return ok(undefined);
  } catch (error) {
    removeStaged(plan);
    return failed(storeFault("writing", writing, error));
  }
}

/** Removes what this installation, or an interrupted one, has under temporary names. Best effort: the next installation does it again. */
function removeStaged({ home, shim, components }: InstallPlan): void {
  const paths = [shim, ...components].map(({ path }) => temporaryName(path));
  for (const path of home === undefined ? paths : [...paths, stageOf(home)]) {
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // A temporary name is never read.
    }
  }
}

/** Renames the files: first the engine, then the components, last the shim. Answers the paths of older code that were removed. */
function switchTo(plan: InstallPlan): readonly string[] {
  const { home, code } = plan;
  writeLists(plan.listsMeanwhile);
  let removed: readonly string[] = [];
  if (home !== undefined && code !== undefined) {
    makeDirectory(join(home, "bin"), directoryMode);
    if (!code.isInPlace) placeCode(join(stageOf(home), "engine"), home, code.name);
    rename(plan.homeFiles, (file) => join(stageOf(home), file.source.name));
    removed = switchCode(home, code.name);
    syncToDisk(join(home, "bin"));
    syncToDisk(home);
  }
  rename(plan.components, ({ path }) => temporaryName(path));
  if (!plan.link.isInPlace) placeLink(plan.link.target, plan.link.path);
  rename([plan.shim], ({ path }) => temporaryName(path));
  writeLists(plan.lists);
  return removed;
}

function writeLists(lists: readonly PlannedFile[]): void {
  for (const { path, source } of lists) {
    writeStaged(temporaryName(path), source);
    renameSync(temporaryName(path), path);
    syncToDisk(dirname(path));
  }
}

function rename(files: readonly PlannedFile[], stagedPath: (file: PlannedFile) => string): void {
  for (const file of files) if (!file.isInPlace) renameSync(stagedPath(file), file.path);
}

function reportOf(
  installation: NodeInstallation,
  plan: InstallPlan,
  { removed, kept }: RemovedEngine,
  made: Pick<InstallReport, "tried" | "codeCaches">,
): InstallReport {
  const onNode = (path: string): string => pathOnNode(installation.root, path);
  const files = [...plan.homeFiles, ...plan.components, plan.shim];
  const code =
    plan.code === undefined || plan.home === undefined ? [] : [{ ...plan.code, path: join(plan.home, plan.code.name) }];
  const all = [...code, ...files];
  return {
    dryRun: installation.dryRun,
    home: plan.home === undefined ? null : installation.home,
    cniBin: installation.cniBin,
    written: all.filter(({ isInPlace }) => !isInPlace).map(({ path }) => onNode(path)),
    unchanged: all.filter(({ isInPlace }) => isInPlace).length,
    kept: [...plan.kept, ...kept].map(({ path, why }) => ({ path: onNode(path), why })),
    removed: removed.map(onNode),
    ...made,
  };
}
