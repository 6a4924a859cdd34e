// The order of test files on a cluster. Files that want the same state of their worker's cluster follow each other, long ones first, so that
// a worker installs Plexus once and both workers end at about the same time.

import { basename } from "node:path";

import type { TestSpecification } from "vitest/node";
import { BaseSequencer } from "vitest/node";

/** Files that start a cluster of their own, then those that begin without Plexus, then those that begin with Plexus. */
const order: readonly string[] = [
  "multus-migration",
  "faults-image",
  "machines",
  "by-hand",
  "comparison",
  "helm-uninstall",
  "chart",
  "components",
  "helm-install",
  "faults-api",
  "helm-upgrade",
  "faults-crash",
  "faults-resources",
  "jail",
  "kubectl-plexus",
].map((name) => `${name}.test.ts`);

function rank({ project, moduleId }: TestSpecification): number {
  return project.name === "cluster" ? order.indexOf(basename(moduleId)) : -1;
}

/** vitest's own order for files of other projects. */
export class ClusterSequence extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
