// The files that an installation has to write: the files of a release, compared with the files of the node.

import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { storeFault } from "../../store/files/durable-file.ts";
import {
  digestOf,
  type InstalledFile,
  listName,
  listNameBesidePlugins,
  listText,
  noEngine,
} from "../uninstall/installed-files.ts";
import { codeName, currentCode, hasCode } from "./code-directory.ts";
import { type EarlierEngine, readEarlier } from "./earlier-installation.ts";
import type { NodeDirectory } from "./node-view.ts";
import type { Source, SourceFile } from "./source.ts";
import { digestOfSource, isInPlace } from "./staged-files.ts";

/** A file of the release and its place. */
export interface PlannedFile {
  readonly path: string;
  readonly source: SourceFile;
  readonly digest: string;
  /** Whether the node has the file with this content and mode. */
  readonly isInPlace: boolean;
}

/** The directory of the programs' code. */
export interface PlannedCode {
  readonly from: string;
  /** The file's name in the home directory. */
  readonly name: string;
  readonly isInPlace: boolean;
  /** Whether the link `engine` leads to it. */
  readonly isCurrent: boolean;
}

/** The files of an installation. Paths are those of this program. */
export interface InstallPlan {
  /** Undefined without a one-shot engine. */
  readonly home: string | undefined;
  readonly cniBin: string;
  readonly homeFiles: readonly PlannedFile[];
  readonly code: PlannedCode | undefined;
  readonly shim: PlannedFile;
  readonly components: readonly PlannedFile[];
  /** The link by which the shim finds the home directory, a path of the node. With `off` it leads to `noEngine`. */
  readonly link: { readonly path: string; readonly target: string; readonly isInPlace: boolean };
  /** The lists of installed files, for the next installation and for the removal. */
  readonly lists: readonly PlannedFile[];
  /** The lists during the switch, with the earlier files, too: after an interruption each file is still known as Plexus' own. */
  readonly listsMeanwhile: readonly PlannedFile[];
  /** The engine of an earlier installation, which this one has not. */
  readonly obsolete: EarlierEngine | undefined;
  /** Components of the node that the release would replace although an administrator put them there. */
  readonly kept: readonly { readonly path: string; readonly why: string }[];
}

/**
 * Compares the release with the node. Fault STORE_FAILED. `homeDirectory`: also read with `off`: an earlier installation may have its engine
 * there.
 */
export function makePlan(
  release: Source,
  cniBin: NodeDirectory,
  homeDirectory: NodeDirectory,
  oneShot: "node" | "off",
): Result<InstallPlan> {
  const home = oneShot === "node" ? homeDirectory : undefined;
  try {
    const { files: previous, engine } = readEarlier(cniBin.here, homeDirectory.here);
    const planned =
      (directory: string) =>
      (source: SourceFile): PlannedFile => {
        const path = join(directory, source.name);
        const digest = digestOfSource(source);
        return { path, source, digest, isInPlace: isInPlace(path, source, digest) };
      };
    const homeFiles = home === undefined ? [] : release.home.map(planned(home.here));
    const found = release.components.map(planned(cniBin.here)).map((file) => ({ file, why: reasonToKeep(file, previous) }));
    const components = found.filter(({ why }) => why === undefined).map(({ file }) => file);
    const shim = planned(cniBin.here)(release.shim);
    const name = codeName(release.code);
    const plugins = linesOf("cni-bin", [shim, ...components]);
    const pluginLines = [...plugins, ...stillThere(previous, plugins, cniBin.here)];
    const listIn = (directory: string, listed: string, lines: readonly InstalledFile[]): PlannedFile =>
      planned(directory)({ name: listed, content: { text: listText(lines) }, mode: 0o644 });
    // The list in the home directory has all files: an installer without the other list replaces its own components, too.
    const listsOf = (inPlugins: readonly InstalledFile[], inHome: readonly InstalledFile[]): readonly PlannedFile[] => [
      listIn(cniBin.here, listNameBesidePlugins, distinct(inPlugins)),
      ...(home === undefined ? [] : [listIn(home.here, listName, distinct([...inPlugins, ...inHome]))]),
    ];
    const homeLines = linesOf("home", homeFiles);
    return ok({
      home: home?.here,
      cniBin: cniBin.here,
      homeFiles,
      code:
        home === undefined
          ? undefined
          : { from: release.code, name, isInPlace: hasCode(home.here, name), isCurrent: currentCode(home.here) === name },
      shim,
      components,
      link: planLink(join(cniBin.here, ".plexus"), home?.onNode ?? noEngine),
      lists: listsOf(pluginLines, homeLines),
      listsMeanwhile: listsOf(
        [...pluginLines, ...previous.filter(({ place }) => place === "cni-bin")],
        [...homeLines, ...previous.filter(({ place }) => place === "home")],
      ),
      obsolete: home === undefined ? engine : undefined,
      kept: found.flatMap(({ file: { path }, why }) => (why === undefined ? [] : [{ path, why }])),
    });
  } catch (error) {
    return failed(storeFault("comparing the release with", cniBin.here, error));
  }
}

/** Why a component of the node must stay; undefined if it may be replaced. */
function reasonToKeep({ path, source, isInPlace: isSame }: PlannedFile, previous: readonly InstalledFile[]): string | undefined {
  if (isSame || !existsSync(path)) return undefined;
  const listed = previous.filter(({ place, name }) => place === "cni-bin" && name === source.name);
  if (listed.length === 0) return "was not installed by Plexus";
  const present = digestOf(path);
  return listed.some(({ digest }) => digest === present) ? undefined : "was changed since it was installed";
}

function linesOf(place: InstalledFile["place"], files: readonly PlannedFile[]): readonly InstalledFile[] {
  return files.map(({ source: { name }, digest }) => ({ place, name, digest }));
}

function distinct(files: readonly InstalledFile[]): readonly InstalledFile[] {
  return [...new Map(files.map((file) => [listText([file]), file])).values()];
}

/** Components of an earlier installation that are not part of this one. They stay, because the DEL of a running pod may need them. */
function stillThere(
  previous: readonly InstalledFile[],
  installed: readonly InstalledFile[],
  cniBin: string,
): readonly InstalledFile[] {
  return previous.filter(
    ({ place, name, digest }) =>
      place === "cni-bin" &&
      !installed.some((file) => file.place === place && file.name === name) &&
      existsSync(join(cniBin, name)) &&
      digestOf(join(cniBin, name)) === digest,
  );
}

function planLink(path: string, target: string): InstallPlan["link"] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return { path, target, isInPlace: stats?.isSymbolicLink() === true && readlinkSync(path) === target };
}

/** Whether the node has everything already. */
export function isComplete({ homeFiles, code, shim, components, link, lists, obsolete }: InstallPlan): boolean {
  const hasEngine = code === undefined || (code.isInPlace && code.isCurrent);
  return (
    obsolete === undefined &&
    link.isInPlace &&
    hasEngine &&
    [...homeFiles, ...components, shim, ...lists].every(({ isInPlace: isSame }) => isSame)
  );
}
