// The tables that this process wrote last: a table that has not changed is not written again, and an endpoint that is gone is known.

import { createHash } from "node:crypto";
import { WrittenTables } from "../../../host/node/running-pods/written-tables.ts";
import { type BalancedPort, balanceText } from "../rules/balance.ts";

/** A table that was written. */
export interface WrittenTable {
  readonly netns: string;
  readonly ports: readonly BalancedPort[];
  /** `portsHash` of the ports, or `unknownHash`. */
  readonly hash: string;
}

/** The hash of a table whose last write failed: it equals no other table's. Its ports are those of the last success. */
export const unknownHash = "";

const tables = new WrittenTables<WrittenTable>();

/** The hash of ports: equal hashes are equal tables. */
export function portsHash(ports: readonly BalancedPort[]): string {
  return createHash("sha256").update(balanceText(ports)).digest("base64");
}

/** The table that was written last for a container in this network namespace; undefined if none is known. */
export function writtenTable(containerId: string, netns: string): WrittenTable | undefined {
  return tables.get(containerId, netns);
}

/** Notes a table. Pods of the same networks share their ports: a full table takes 7 MiB. */
export function noteTable(containerId: string, written: WrittenTable): void {
  const equal = written.hash === unknownHash ? undefined : [...tables.all()].find(({ hash }) => hash === written.hash);
  tables.note(containerId, { ...written, ports: equal?.ports ?? written.ports });
}

/** Forgets the table of a container that is gone. */
export function forgetTable(containerId: string): void {
  tables.forget(containerId);
}

/** Forgets the tables of all other containers. */
export function keepTables(containers: ReadonlySet<string>): void {
  tables.keepOnly(containers);
}
