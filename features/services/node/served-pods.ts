// The tables that this process wrote last: a table that has not changed is not written again, and an endpoint that is gone is known.

import type { BalancedPort } from "../rules/balance.ts";
import { writtenTables } from "../../../host/node/running-pods/written-tables.ts";

/** A table that was written. */
export interface WrittenTable {
  readonly netns: string;
  readonly ports: readonly BalancedPort[];
}

/** The tables. */
export const { writtenTable, noteTable } = writtenTables<WrittenTable>();
