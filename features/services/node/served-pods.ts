// The tables that this process wrote last: a table that has not changed is not written again, and an endpoint that is gone is known.

import type { BalancedPort } from "../rules/balance.ts";

/** A table that was written. */
export interface WrittenTable {
  readonly netns: string;
  readonly ports: readonly BalancedPort[];
}

/** More containers than a node has; beyond it the oldest are written again at their next change. */
const maxTables = 2000;

const tables = new Map<string, WrittenTable>();

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
