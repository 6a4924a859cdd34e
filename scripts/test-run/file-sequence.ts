// The order in which vitest begins test files: unit tests last, because many short files fill the workers evenly at a run's end; on a cluster, files
// that want the same state of it one after the other.

import { basename, relative } from "node:path";

import type { TestSpecification } from "vitest/node";
import { BaseSequencer } from "vitest/node";

import { clusterOrder } from "../../test/lab/cluster/sequence.ts";
import { root } from "../../test/lab/compiled.ts";
import { longestFirst, readDurations } from "./known-durations.ts";

function rank({ project, moduleId }: TestSpecification): number {
  if (project.name === "cluster") return clusterOrder.indexOf(basename(moduleId));
  return project.name === "unit" ? 1 : 0;
}

const nameOf = ({ moduleId }: TestSpecification): string => relative(root, moduleId);

/**
 * Files of one rank: first those that failed in this clone's last run, then long ones. A file that did not run in this clone yet has the duration that another
 * clone left: a clone whose runs had chosen files would otherwise begin with those, and end alone with a long one.
 */
export class FileSequence extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const results = new Map(files.map((file) => [file, this.ctx.cache.getTestSpecificationResult(file)]));
    const here = [...results].flatMap(([file, result]) =>
      result === undefined ? [] : [[nameOf(file), result.duration] as const],
    );
    const durations = { ...readDurations(), ...Object.fromEntries(here) };
    const failed = (file: TestSpecification): number => (results.get(file)?.failed === true ? 0 : 1);
    const ordered = longestFirst(await super.sort(files), nameOf, durations).toSorted((a, b) => failed(a) - failed(b));
    return ordered.toSorted((a, b) => rank(a) - rank(b));
  }
}
