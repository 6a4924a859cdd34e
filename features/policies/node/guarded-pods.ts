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
  ends.keepOnly(containers);
}

const ends = new WrittenTables<WrittenTable>();
/** The containers that had a table at the node's ends in the last listing, without those whose table was removed since. */
let left: ReadonlySet<string> = new Set();

/** The table that was written last at the node's ends of a container's links; undefined if none is known. */
export function writtenEnds(containerId: string, netns: string): WrittenTable | undefined {
  return ends.get(containerId, netns);
}

/** Notes a table at the node's ends; undefined: the state of the kernel's table is unknown. */
export function noteEnds(containerId: string, written: WrittenTable | undefined): void {
  ends.note(containerId, written?.table === undefined ? undefined : written);
  if (written !== undefined) left = new Set([...left].filter((each) => each !== containerId));
}

/** Forgets the node's ends of a container that is gone. */
export function forgetEnds(containerId: string): void {
  noteEnds(containerId, { netns: "", table: undefined });
}

/** Notes the containers of a listing. */
export function noteListedEnds(containers: ReadonlySet<string>): void {
  left = containers;
}

/** Whether a container had a table in the last listing: an earlier process, or another configuration, has made it. */
export function hasLeftEnds(containerId: string): boolean {
  return left.has(containerId);
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
