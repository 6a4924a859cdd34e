// The state that this process has for its life: the last known policies of each state directory, and the tables that it wrote last, so that a change of peers
// sends elements only.

import type { PolicyTable } from "../rules/table.ts";
import { KnownPolicies } from "./known-policies.ts";
import { writtenTables } from "../../../host/node/running-pods/written-tables.ts";

/** A table that was written. */
export interface WrittenTable {
  readonly netns: string;
  readonly table: PolicyTable | undefined;
}

/** The tables. */
export const { writtenTable, noteTable } = writtenTables<WrittenTable>();

const known = new Map<string, KnownPolicies>();

/** The last known policies of a state directory. */
export function knownPolicies(cniDir: string): KnownPolicies {
  const made = known.get(cniDir) ?? new KnownPolicies(cniDir);
  known.set(cniDir, made);
  return made;
}
