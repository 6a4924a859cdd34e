// The tables at the node's ends that this process wrote last, and the containers that had such a table in the last listing.

import { WrittenTables } from "../../../host/node/running-pods/written-tables.ts";
import type { PolicyTable } from "../rules/table.ts";
import type { WrittenTable } from "./guarded-pods.ts";

/** A table at the node's ends. */
export interface WrittenEnds extends WrittenTable {
  /** The pod's own table, whose policies the node's ends hold; undefined: no policy selects the pod. */
  readonly pod: PolicyTable | undefined;
  /** The devices, by name and index. A new device of an earlier name has none of the table's chains before Linux 6.16. */
  readonly devices: string;
}

const ends = new WrittenTables<WrittenEnds>();
/** The containers that had a table at the node's ends in the last listing, without those whose table was removed since. */
let left: ReadonlySet<string> = new Set();

/** The table that was written last at the node's ends of a container's links; undefined if none is known. */
export function writtenEnds(containerId: string, netns: string): WrittenEnds | undefined {
  return ends.get(containerId, netns);
}

/** Notes a table at the node's ends; undefined: the state of the kernel's table is unknown. */
export function noteEnds(containerId: string, written: WrittenEnds | undefined): void {
  ends.note(containerId, written?.table === undefined ? undefined : written);
  if (written !== undefined) left = new Set([...left].filter((each) => each !== containerId));
}

/** Forgets the node's ends of a container that is gone. */
export function forgetEnds(containerId: string): void {
  noteEnds(containerId, { netns: "", table: undefined, pod: undefined, devices: "" });
}

/** Notes the containers of a listing. */
export function noteListedEnds(containers: ReadonlySet<string>): void {
  left = containers;
}

/** Whether a container had a table in the last listing: an earlier process, or another configuration, has made it. */
export function hasLeftEnds(containerId: string): boolean {
  return left.has(containerId);
}

/** Forgets the node's ends of all other containers. */
export function keepEnds(containers: ReadonlySet<string>): void {
  ends.keepOnly(containers);
}
