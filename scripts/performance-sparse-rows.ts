// The descriptions and targets of the benchmark's rows about a node that starts a pod now and then.

import { comparison, type Meaning, ratioAtMost } from "./performance-target.ts";

const contenders = {
  native: "native bridge + host-local through the daemon",
  "wasm-only": "bridge-adapter + ipam-host-local (components only) through the daemon",
  multus: "native bridge + host-local through thick Multus",
} as const;

const every =
  "one ADD every 10 s for 10 minutes (the row's title says if it was less), each with a DEL after it, with one API server";

/** The rows `sparse-…`. */
export function sparseRows(): readonly (readonly [string, Meaning])[] {
  return Object.entries(contenders).flatMap(([name, what]): readonly (readonly [string, Meaning])[] => [
    [
      `sparse-${name}`,
      {
        what: `${every}: ${what}, against the same ADDs in a row`,
        ...(name === "wasm-only" ? { target: "ratio at most 1.2", met: ratioAtMost(1.2) } : { target: comparison }),
      },
    ],
    [`sparse-${name}-max`, { what: `the slowest of these ADDs: ${what}, against their median`, target: comparison }],
    [
      `sparse-${name}-first`,
      { what: `the first ADD after each of 5 starts of the daemon: ${what}, against ADDs in a row`, target: comparison },
    ],
  ]);
}
