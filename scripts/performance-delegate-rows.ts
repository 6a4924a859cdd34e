// The benchmark's rows for each plugin as a component, against the native plugin of the same name.

import { fieldPlugins, referencePlugins } from "../src/cni/reference-plugins.ts";
import { type FailedRow, hasFailed, type Meaning, ratioAtMost, type Row } from "./performance-target.ts";

const how = (type: string): string =>
  `steps of a list through the daemon, against the native plugin ${(fieldPlugins as readonly string[]).includes(type) ? "of its project" : "of release 1.9.1"}`;

/** The rows `delegate-NAME` and `delegate-NAME-del`. A plugin that the measured machine cannot run has no row in the result. */
export function delegateRows(): readonly (readonly [string, Meaning])[] {
  return [...referencePlugins, ...fieldPlugins].flatMap((type) => [
    [
      `delegate-${type}`,
      { what: `ADD of \`${type}\` as a component: its ${how(type)}`, target: "ratio at most 0.6", met: ratioAtMost(0.6) },
    ],
    [
      `delegate-${type}-del`,
      { what: `DEL of \`${type}\` as a component: its ${how(type)}`, target: "ratio at most 0.8", met: ratioAtMost(0.8) },
    ],
  ]);
}

/** The time of a type's component beside the native plugin's, such as `0.31`; empty without a measured row. */
export function delegateRatio(rows: readonly (Row | FailedRow)[], type: string, verb: "ADD" | "DEL"): string {
  const id = `delegate-${type}${verb === "ADD" ? "" : "-del"}`;
  const row = rows.find((each) => each.id === id);
  return row === undefined || hasFailed(row) ? "" : row.ratio.toFixed(2);
}
