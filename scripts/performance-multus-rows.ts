// What the rows of the comparison with Multus compare.

import { comparison, type Meaning, ratioAtLeast } from "./performance-target.ts";

/** Who takes part in the comparison with Multus. */
export const multusContenders = ["plexus", "thin", "thick"] as const;
const contenderNames = { plexus: "Plexus and its daemon", thin: "thin Multus", thick: "thick Multus" };

/** Rows `multus-…`. */
export function multusRows(): readonly (readonly [string, Meaning])[] {
  const pods = [0, 1, 3].flatMap((count) =>
    multusContenders.flatMap((name) =>
      ["ADD", "DEL"].map((verb) => {
        const what = `${verb} of a pod of a real API with ${count} secondaries through ${contenderNames[name]}, against the plugins called directly`;
        return [`multus-pod${count}-${name}${verb === "ADD" ? "" : "-del"}`, { what, target: comparison }] as const;
      }),
    ),
  );
  const together = multusContenders.flatMap((name) => [
    [
      `multus-c32-${name}`,
      {
        what: `ADD and DEL of 200 pods of a real API, 32 at once, through ${contenderNames[name]}, against the plugins without any API; pods a second`,
        target: comparison,
      },
    ] as const,
    [
      `multus-cpu-${name}`,
      {
        what: `CPU time of one of those ADDs, user and system, plugins and daemon included, the API server not, through ${contenderNames[name]}, against the plugins`,
        target: comparison,
      },
    ] as const,
  ]);
  const memory = "highest resident set of the program that the runtime starts: the hands, against";
  return [
    ...pods,
    [
      "multus-c32",
      {
        what: "ADD and DEL of 200 pods of a real API, 32 at once, through Plexus and its daemon, against thick Multus; pods a second",
        target: "at least 2.5 times",
        met: ratioAtLeast(2.5),
      },
    ],
    ...together,
    [
      "multus-rss-daemon",
      {
        what: "proportional set size of plexusd with two sandbox processes that wait, against multus-daemon, after those pods",
        target: comparison,
      },
    ],
    ["multus-rss-call-thin", { what: `${memory} thin multus`, target: comparison }],
    ["multus-rss-call-thick", { what: `${memory} multus-shim`, target: comparison }],
  ];
}
