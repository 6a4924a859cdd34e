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

/**
 * Files of one rank are in vitest's order, failed and long ones of the last run first. A clone without a last run takes the durations that other
 * clones left.
 */
export class FileSequence extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isNew = files.every((file) => this.ctx.cache.getTestSpecificationResult(file) === undefined);
    const ordered = isNew ? longestFirst(sorted, ({ moduleId }) => relative(root, moduleId), readDurations()) : sorted;
    return ordered.toSorted((a, b) => rank(a) - rank(b));
  }
}
