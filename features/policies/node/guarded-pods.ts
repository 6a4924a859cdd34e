// The state that this process has for its life: the last known policies of each state directory, and the tables that it wrote last, so that a change of peers
// sends elements only.

import { resolve } from "node:path";
import type { PolicyTable } from "../rules/table.ts";
import { KnownPolicies } from "./known-policies.ts";

/** A table that was written. */
export interface WrittenTable {
  readonly netns: string;
  readonly table: PolicyTable | undefined;
}

/** More containers than a node has; beyond it the oldest are written as a whole at their next change. */
const maxTables = 2000;

const tables = new Map<string, WrittenTable>();
const known = new Map<string, KnownPolicies>();

/** The table that was written last for a container in this network namespace; undefined if none is known. */
export function writtenTable(containerId: string, netns: string): WrittenTable | undefined {
  const written = tables.get(containerId);
  return written?.netns === netns ? written : undefined;
}

/** Notes a table; undefined: the state of the kernel's table is unknown. */
export function noteTable(containerId: string, written: WrittenTable | undefined): void {
  tables.delete(containerId);
  if (written === undefined) return;
  tables.set(containerId, written);
  const [oldest] = tables.keys();
  if (tables.size > maxTables && oldest !== undefined) tables.delete(oldest);
}

/** The last known policies of a state directory. */
export function knownPolicies(cniDir: string): KnownPolicies {
  const made = known.get(cniDir) ?? new KnownPolicies(cniDir);
  known.set(cniDir, made);
  return made;
}

/** Ends a round of the work for all pods. `failed`: the pods, as `namespace/name`, for which the work has failed. */
export function endKnownRound(directories: readonly string[], failed: readonly string[]): void {
  const unfinished = new Set(failed.map((pod) => pod.slice(0, pod.indexOf("/"))));
  for (const [cniDir, each] of known) if (directories.includes(resolve(cniDir))) each.endRound(unfinished);
}
