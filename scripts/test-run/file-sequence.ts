// The order in which vitest begins test files: long files first; on a cluster, files that want the same state of it one after the other.

import { basename, relative } from "node:path";

import type { TestSpecification } from "vitest/node";
import { BaseSequencer } from "vitest/node";

import { clusterOrder } from "../../test/lab/cluster/sequence.ts";
import { root } from "../../test/lab/compiled.ts";
import { longFiles } from "./long-files.ts";

function rank({ project, moduleId }: TestSpecification): number {
  if (project.name === "cluster") return clusterOrder.indexOf(basename(moduleId));
  const index = longFiles.indexOf(relative(root, moduleId));
  return index === -1 ? longFiles.length : index;
}

/** vitest's own order for files without a rank. */
export class FileSequence extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
