// What each row of the benchmark compares, and its target, which the page holds its figures against.

import { multusRows } from "./performance-multus-rows.ts";
import { wasmOnlyRows } from "./performance-wasm-only-rows.ts";
import { below, faster, type Meaning, medianAbove, ratioAtLeast, ratioAtMost, type Row } from "./performance-target.ts";

const oneShotStart = "none: most of it is the start of Node";

function oneShotPods(): readonly (readonly [string, Meaning])[] {
  const secondaries = { 0: "its default network only", 1: "one secondary network", 3: "three secondary networks" };
  return Object.entries(secondaries).flatMap(([count, networks]) =>
    ["ADD", "DEL"].map((verb) => {
      const what = `${verb} of a pod with ${networks}, each network bridge + host-local, through a one-shot brain, against the sum of the native plugins called directly`;
      return [`one-shot-pod${count}${verb === "ADD" ? "" : "-del"}`, { what, target: oneShotStart }] as const;
    }),
  );
}

const p95Above =
  (bound: number) =>
  ({ p95, baselineP95 }: Row): boolean =>
    baselineP95 !== undefined && p95 - baselineP95 <= bound;

function withWasmIpam(verb: string): string {
  return `${verb} of a pod of a real API through the daemon with the WASM ipam-host-local in the place of host-local, against the same with host-local`;
}

function daemonPods(): readonly (readonly [string, Meaning])[] {
  const direct = "the sum of the native plugins called directly and one PATCH of the pod's status";
  const of = (verb: string, networks: string): string =>
    `${verb} of a pod of a real API with ${networks}, each network bridge + host-local, through the daemon, against ${direct}`;
  return [
    [
      "daemon-native-pod0",
      {
        what: of("ADD", "its default network only"),
        target: "median at most 2.5 ms above, p95 at most 6 ms above",
        met: (row) => medianAbove(2.5)(row) && p95Above(6)(row),
      },
    ],
    ["daemon-native-pod0-del", { what: of("DEL", "its default network only"), target: "none" }],
    [
      "daemon-native-pod3",
      { what: of("ADD", "three secondary networks"), target: "median at most 5 ms above", met: medianAbove(5) },
    ],
    ["daemon-native-pod3-del", { what: of("DEL", "three secondary networks"), target: "none" }],
    ["daemon-wasm-ipam-pod0", { what: withWasmIpam("ADD"), target: "less than with the native one", met: faster }],
    ["daemon-wasm-ipam-pod0-del", { what: withWasmIpam("DEL"), target: "none" }],
  ];
}

function crowd(calls: string, ipam: string): string {
  return `${calls} of 500 pods, 32 at once, bridge + ${ipam} through the daemon, against native bridge + host-local called directly by the same driver; pods a second`;
}

function crowdOf(
  id: string,
  ipam: string,
  target: string,
  met: NonNullable<Meaning["met"]>,
): readonly (readonly [string, Meaning])[] {
  return [
    [id, { what: crowd("ADD and DEL", ipam), target, met }],
    [`${id}-add`, { what: crowd("ADD", ipam), target: "none of its own" }],
    [`${id}-del`, { what: crowd("DEL", ipam), target: "none of its own" }],
  ];
}

function crowdedRows(): readonly (readonly [string, Meaning])[] {
  return [
    ...crowdOf("daemon-c32", "native host-local", "at least 0.9 of the plugins", ratioAtLeast(0.9)),
    ...crowdOf("daemon-c32-wasm-ipam", "WASM ipam-host-local", "more than the native plugins", ({ ratio }) => ratio > 1),
    [
      "daemon-c32-loop",
      {
        what: "p99 delay of the daemon's event loop in the rounds of daemon-c32, against its bound; p95 is the worst of them but for a twentieth",
        target: "under 50 ms",
        met: ({ p95 }) => p95 < 50,
      },
    ],
  ];
}

const bound = "against its bound";

/** By a row's id. */
export const meanings: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  [
    "one-shot-start",
    {
      what: "VERSION answered by a one-shot brain, hands included, against bare Node (`node -e 0`)",
      target: "ratio at most 1.6",
      met: ratioAtMost(1.6),
    },
  ],
  [
    "hands-version",
    {
      what: "VERSION through the hands with a resident brain that answers at once, against `/bin/true`",
      target: "at most 2 ms",
      met: below(2),
    },
  ],
  [
    "hands-rss",
    {
      what: `highest resident set of the hands in an ADD, seen while a native plugin runs, ${bound}`,
      target: "at most 2 MiB",
      met: ({ p95 }) => p95 <= 2,
    },
  ],
  [
    "fresh-instance",
    { what: "DEL of the WASM status-shaper on a fresh instance, time limit included, against `/bin/true`", target: "none" },
  ],
  [
    "ipam-step",
    {
      what: "an ADD of the WASM ipam-host-local, warm, with its instance, its leases on disk and their flock, against executing the native host-local",
      target: "under 1 ms, ratio at most 0.2 (after 1500 calls, not after 400: below)",
      met: ({ median, ratio }) => median < 1 && ratio <= 0.2,
    },
  ],
  [
    "one-shot-add",
    {
      what: "ADD of bridge + WASM IPAM, WASM status-shaper, tuning through a one-shot brain, against the native plugins called directly",
      target: oneShotStart,
    },
  ],
  [
    "one-shot-api",
    {
      what: "ADD with one secondary network, definition and pod from a real API server over TLS, status patched, against the same from manifests",
      target: "none",
    },
  ],
  ...oneShotPods(),
  ...daemonPods(),
  ...crowdedRows(),
  [
    "daemon-status",
    {
      what: `99th percentile of 500 STATUS calls through the daemon, nothing else going on, ${bound}`,
      target: "under 50 ms",
      met: below(50),
    },
  ],
  [
    "daemon-status-loaded",
    {
      what: `99th percentile of 200 STATUS calls while 32 ADDs and DELs are under way, ${bound}`,
      target: "under 200 ms",
      met: below(200),
    },
  ],
  [
    "daemon-del-api-down",
    {
      what: "DEL through the daemon with the API server stopped, against DEL of native bridge + host-local called directly",
      target: "at most 10 ms above",
      met: medianAbove(10),
    },
  ],
  ...wasmOnlyRows(),
  ...multusRows(),
  [
    "daemon-burst",
    {
      what: "growth of the daemon's highest resident set while 150 pods come at once, each with a native plugin of 55 MB, against one such plugin",
      target: "less than one plugin",
      met: faster,
    },
  ],
  [
    "daemon-rss",
    {
      what: `RSS of the brain after 10,000 ADD/DEL cycles with three delegates, ${bound}`,
      target: "at most 120 MiB",
      met: below(120),
    },
  ],
  [
    "daemon-rss-family",
    {
      what: `proportional set size of brain and sandbox processes together after those cycles, ${bound}`,
      target: "at most 220 MiB",
      met: below(220),
    },
  ],
  [
    "daemon-rss-growth",
    {
      what: "RSS of the brain after 10,000 cycles, against after 2,000",
      target: "growth under 5 %",
      met: ({ ratio }) => ratio < 1.05,
    },
  ],
  [
    "daemon-rss-family-growth",
    {
      what: "proportional set size of brain and sandbox processes after 10,000 cycles, against after 2,000",
      target: "growth under 5 %",
      met: ({ ratio }) => ratio < 1.05,
    },
  ],
  [
    "daemon-rss-large",
    {
      what: `RSS of the brain after 1,000 pods came and went with 60,000 pods and 2,000 definitions in the API, ${bound}`,
      target: "at most 120 MiB",
      met: below(120),
    },
  ],
  [
    "daemon-rss-large-peak",
    { what: "highest RSS of the brain so far in the same run, against the same bound", target: "none of its own" },
  ],
  ["daemon-rss-large-small", { what: "RSS of the brain with that many, against a small cluster", target: "none of its own" }],
  [
    "daemon-first-call",
    {
      what: "first ADD of a daemon that knows components of its last run, two WASM steps, against one that doesn't",
      target: "ratio under 1",
      met: faster,
    },
  ],
]);

/** The target, and whether it is met. */
export function verdict(row: Row): string {
  const { target = "", met } = meanings.get(row.id) ?? {};
  return met === undefined ? target : `${target}: ${met(row) ? "met" : "**NOT MET**"}`;
}
