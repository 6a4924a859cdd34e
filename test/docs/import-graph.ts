// The imports between the files of src/, host/ and features/, as a graph: type-only imports, re-exports and dynamic imports included.

import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

/** A file's path, relative to the repository, with the paths that the file imports. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/** One import that breaks a rule. */
export interface Violation {
  readonly from: string;
  readonly to: string;
}

const importSpecifier = /(?:\bfrom|\bimport|\bimport\s*\()\s*["'](\.[^"']+\.(?:m?ts|tsx))["']/g;

/** Reads the imports of `files`; `root` is the repository's directory. Comments that quote an import count, too. */
export function readImportGraph(root: string, files: readonly string[]): ImportGraph {
  return new Map(
    files.map((file) => {
      const text = readFileSync(join(root, file), "utf8");
      const imported = [...text.matchAll(importSpecifier)].map(([, path]) => normalize(join(dirname(file), path ?? "")));
      return [file, [...new Set(imported)]];
    }),
  );
}

/** `graph` with one import added. */
export function withImport(graph: ImportGraph, { from, to }: Violation): ImportGraph {
  return new Map([...graph, [from, [...(graph.get(from) ?? []), to]]]);
}

/**
 * The layers from the top. Modules of one layer may import each other as long as no circle of files results;
 * docs/architecture.md explains each layer.
 */
export const layers: readonly (readonly string[])[] = [
  ["host/programs"],
  ["features"],
  ["host/engine", "host/node", "host/telemetry", "host/controller"],
  ["host/capabilities"],
  ["host/sandbox", "host/cluster", "host/store"],
  ["host/shim", "host/protocol"],
  ["host/system"],
  ["src"],
  ["wit"],
];

/** The module of a file: a directory directly below `host/`, or else the directory at the top. */
export function moduleOf(file: string): string {
  const [top = "", name = ""] = file.split("/");
  return top === "host" ? `${top}/${name}` : top;
}

/** The index of the file's layer, 0 at the top; -1 for a file of no layer. */
export function layerOf(file: string): number {
  return layers.findIndex((modules) => modules.includes(moduleOf(file)));
}

/** The imports that lead from a lower layer into a higher one, or out of the layers, test/ and scripts/ for example. */
export function upwardImports(graph: ImportGraph): readonly Violation[] {
  return edges(graph).filter(({ from, to }) => layerOf(to) < layerOf(from));
}

/** The feature of a file; undefined for a file outside of all features, such as `features/list.ts`. */
export function featureOf(file: string): string | undefined {
  return /^features\/([^/]+)\//.exec(file)?.[1];
}

/** Whether the file is a feature's rule, which is as pure as `src/`. */
export function isRule(file: string): boolean {
  return /^features\/[^/]+\/rules(?:\.ts$|\/)/.test(file);
}

/**
 * The imports that tie a feature to anything but itself: programs know the files beside the folders only, features know each other by their descriptions only, and rules know
 * `src/` and the rules of their own feature only.
 */
export function featureViolations(graph: ImportGraph): readonly Violation[] {
  const descriptions = /^features\/(?:[^/]+|[^/]+\/feature)\.ts$/;
  return edges(graph).filter(({ from, to }) => {
    if (isRule(from) && moduleOf(to) === "features" && !(isRule(to) && featureOf(to) === featureOf(from))) return true;
    if (isRule(from) && to.startsWith("host/")) return true;
    if (!to.startsWith("features/") || (featureOf(from) !== undefined && featureOf(from) === featureOf(to))) return false;
    if (featureOf(from) !== undefined) return !descriptions.test(to) || to === "features/list.ts";
    if (from === "features/list.ts") return !descriptions.test(to);
    return featureOf(to) !== undefined;
  });
}

/** The file with all files that it imports, directly or not. */
export function reachable(graph: ImportGraph, from: string): ReadonlySet<string> {
  const found = new Set([from]);
  // A set also yields what is added during the loop.
  for (const file of found) for (const next of graph.get(file) ?? []) found.add(next);
  return found;
}

/** Each circle of imports once, as the files on the circle. Tarjan's strongly connected components. */
export function importCircles(graph: ImportGraph): readonly (readonly string[])[] {
  const indexOf = new Map<string, number>();
  const lowLink = new Map<string, number>();
  const stack: string[] = [];
  const onStack = new Set<string>();
  const circles: string[][] = [];

  function visit(file: string): void {
    indexOf.set(file, indexOf.size);
    lowLink.set(file, indexOf.size - 1);
    stack.push(file);
    onStack.add(file);
    for (const next of graph.get(file) ?? []) {
      if (!indexOf.has(next)) {
        visit(next);
        lowLink.set(file, Math.min(lowLink.get(file) ?? 0, lowLink.get(next) ?? 0));
      } else if (onStack.has(next)) {
        lowLink.set(file, Math.min(lowLink.get(file) ?? 0, indexOf.get(next) ?? 0));
      }
    }
    if (lowLink.get(file) !== indexOf.get(file)) {
      return;
    }
    const component = stack.splice(stack.indexOf(file));
    for (const member of component) {
      onStack.delete(member);
    }
    if (component.length > 1 || (graph.get(file) ?? []).includes(file)) {
      circles.push(component.toSorted());
    }
  }

  for (const file of graph.keys()) {
    if (!indexOf.has(file)) {
      visit(file);
    }
  }
  return circles;
}

/** The circles between the modules directly below `host/`, and `src`. */
export function moduleCircles(graph: ImportGraph): readonly (readonly string[])[] {
  const modules = new Map<string, Set<string>>();
  for (const { from, to } of edges(graph)) {
    const [importer, imported] = [moduleOf(from), moduleOf(to)];
    if (importer !== imported) {
      modules.set(importer, (modules.get(importer) ?? new Set()).add(imported));
    }
  }
  return importCircles(new Map([...modules].map(([module, imports]) => [module, [...imports]])));
}

function edges(graph: ImportGraph): readonly Violation[] {
  return [...graph].flatMap(([from, imports]) => imports.map((to) => ({ from, to })));
}

/**
 * The circles between the folders inside of each module below `host/`. A file that lies in no folder of its module counts by itself, so that a folder
 * may import what lies beside it, or be imported by it, but not both.
 */
export function folderCircles(graph: ImportGraph): readonly (readonly string[])[] {
  const folders = new Map<string, Set<string>>();
  for (const { from, to } of edges(graph)) {
    const [importer, imported] = [folderOf(from), folderOf(to)];
    if (moduleOf(from) !== moduleOf(to) || importer === imported) continue;
    folders.set(importer, (folders.get(importer) ?? new Set()).add(imported));
  }
  return importCircles(new Map([...folders].map(([folder, imports]) => [folder, [...imports]])));
}

function folderOf(file: string): string {
  const parts = file.split("/");
  return parts[0] === "host" && parts.length > 3 ? parts.slice(0, 3).join("/") : file;
}
