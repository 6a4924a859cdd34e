// The state that this process has for its life: the last known policies of each state directory, and the tables that it wrote last, so that a change of peers
// sends elements only.

import { resolve } from "node:path";
import { WrittenTables } from "../../../host/node/running-pods/written-tables.ts";
import type { PolicyTable } from "../rules/table.ts";
import { KnownPolicies } from "./known-policies.ts";

/** A table that was written. */
export interface WrittenTable {
  readonly netns: string;
  readonly table: PolicyTable | undefined;
}

const tables = new WrittenTables<WrittenTable>();
const known = new Map<string, KnownPolicies>();

/** The table that was written last for a container in this network namespace; undefined if none is known. */
export function writtenTable(containerId: string, netns: string): WrittenTable | undefined {
  return tables.get(containerId, netns);
}

/** Notes a table; undefined: the state of the kernel's table is unknown. */
export function noteTable(containerId: string, written: WrittenTable | undefined): void {
  tables.note(containerId, written);
}

/** Forgets the table of a container that is gone. */
export function forgetTable(containerId: string): void {
  tables.forget(containerId);
}

/** Forgets the tables of all other containers. */
export function keepTables(containers: ReadonlySet<string>): void {
  tables.keepOnly(containers);
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
