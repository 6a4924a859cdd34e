// The benchmark's rows that compare Plexus with Multus.

import { comparison, type Meaning, ratioAtLeast } from "./performance-target.ts";

/** The contenders. */
const multusContenders = ["plexus", "thin", "thick"] as const;
const contenderNames = { plexus: "Plexus and its daemon", thin: "thin Multus", thick: "thick Multus" };

/** The rows `multus-…`. */
export function multusRows(): readonly (readonly [string, Meaning])[] {
  const pods = [0, 1, 3].flatMap((count) =>
    multusContenders.flatMap((name) =>
      ["ADD", "DEL"].map((verb) => {
        const what = `${verb} of a pod with ${count} secondary networks and an API server through ${contenderNames[name]}, against direct calls of the plugins`;
        return [`multus-pod${count}-${name}${verb === "ADD" ? "" : "-del"}`, { what, target: comparison }] as const;
      }),
    ),
  );
  const together = multusContenders.flatMap((name) => [
    [
      `multus-c32-${name}`,
      {
        what: `ADD and DEL of 200 pods with an API server, 32 at once, through ${contenderNames[name]}, against direct calls of the plugins without an API server; pods a second`,
        target: comparison,
      },
    ] as const,
    [
      `multus-cpu-${name}`,
      {
        what: `CPU time of one of these ADDs, user and system, with plugins and daemon, without the API server, through ${contenderNames[name]}, against the plugins`,
        target: comparison,
      },
    ] as const,
  ]);
  const memory = "maximum resident set of the program that the runtime starts: the shim, against";
  return [
    ...pods,
    [
      "multus-c32",
      {
        what: "ADD and DEL of 200 pods with an API server, 32 at once, through Plexus and its daemon, against thick Multus; pods a second",
        target: "at least 2.5 times",
        met: ratioAtLeast(2.5),
      },
    ],
    ...together,
    [
      "multus-rss-daemon",
      {
        what: "proportional set size of plexusd with two idle sandbox processes, against multus-daemon, after these pods",
        target: comparison,
      },
    ],
    ["multus-rss-call-thin", { what: `${memory} thin multus`, target: comparison }],
    ["multus-rss-call-thick", { what: `${memory} multus-shim`, target: comparison }],
  ];
}
