// The descriptions and targets of the benchmark's rows.

import { delegateRows } from "./performance-delegate-rows.ts";
import { multusRows } from "./performance-multus-rows.ts";
import { copyRows, sandboxRows } from "./performance-sandbox-rows.ts";
import { sparseRows } from "./performance-sparse-rows.ts";
import { wasmOnlyRows } from "./performance-wasm-only-rows.ts";
import {
  below,
  comparison,
  faster,
  type Meaning,
  medianAbove,
  ratioAtLeast,
  ratioAtMost,
  type Row,
} from "./performance-target.ts";

const oneShotStart = "none: most of the time is the start of Node";

function oneShotPods(): readonly (readonly [string, Meaning])[] {
  const secondaries = { 0: "only its default network", 1: "one secondary network", 3: "three secondary networks" };
  return Object.entries(secondaries).flatMap(([count, networks]) =>
    ["ADD", "DEL"].map((verb) => {
      const what = `${verb} of a pod with ${networks}, each network bridge + host-local, through a one-shot engine, against the sum of direct calls of the native plugins`;
      return [`one-shot-pod${count}${verb === "ADD" ? "" : "-del"}`, { what, target: oneShotStart }] as const;
    }),
  );
}

function guestRows(): readonly (readonly [string, Meaning])[] {
  const titles = { as: "AssemblyScript", js: "JavaScript", rust: "Rust", go: "Go", python: "Python" };
  return Object.entries(titles).map(([id, title]) => {
    const what = `a warm ADD of the kit's template in ${title} on a new instance, against the same in AssemblyScript`;
    return [`guest-${id}`, { what, target: comparison }] as const;
  });
}

const p95Above =
  (bound: number) =>
  ({ p95, baselineP95 }: Row): boolean =>
    p95 - baselineP95 <= bound;

function withWasmIpam(verb: string): string {
  return `${verb} of a pod with an API server through the daemon, with WASM ipam-host-local instead of host-local, against the same with host-local`;
}

function daemonPods(): readonly (readonly [string, Meaning])[] {
  const direct = "the sum of direct calls of the native plugins and one PATCH of the pod's status";
  const of = (verb: string, networks: string): string =>
    `${verb} of a pod with an API server and ${networks}, each network bridge + host-local, through the daemon, against ${direct}`;
  return [
    [
      "daemon-native-pod0",
      {
        what: of("ADD", "only its default network"),
        target: "median at most 2.5 ms above, p95 at most 6 ms above",
        met: (row) => medianAbove(2.5)(row) && p95Above(6)(row),
      },
    ],
    ["daemon-native-pod0-del", { what: of("DEL", "only its default network"), target: "none" }],
    [
      "daemon-native-pod3",
      { what: of("ADD", "three secondary networks"), target: "median at most 5 ms above", met: medianAbove(5) },
    ],
    ["daemon-native-pod3-del", { what: of("DEL", "three secondary networks"), target: "none" }],
    ["daemon-wasm-ipam-pod0", { what: withWasmIpam("ADD"), target: "less than with native host-local", met: faster }],
    ["daemon-wasm-ipam-pod0-del", { what: withWasmIpam("DEL"), target: "none" }],
  ];
}

function concurrentPods(verbs: string, ipam: string): string {
  return `${verbs} of 500 pods, 32 at once, bridge + ${ipam} through the daemon, against direct calls of native bridge + host-local by the same driver; pods a second`;
}

function concurrentRowsOf(
  id: string,
  ipam: string,
  target: string,
  met: NonNullable<Meaning["met"]>,
): readonly (readonly [string, Meaning])[] {
  return [
    [id, { what: concurrentPods("ADD and DEL", ipam), target, met }],
    [`${id}-add`, { what: concurrentPods("ADD", ipam), target: "none" }],
    [`${id}-del`, { what: concurrentPods("DEL", ipam), target: "none" }],
  ];
}

function concurrentRows(): readonly (readonly [string, Meaning])[] {
  return [
    ...concurrentRowsOf("daemon-c32", "native host-local", "at least 0.9 of the plugins", ratioAtLeast(0.9)),
    ...concurrentRowsOf("daemon-c32-wasm-ipam", "WASM ipam-host-local", "more than the native plugins", ({ ratio }) => ratio > 1),
    [
      "daemon-c32-loop",
      {
        what: "p99 delay of the daemon's event loop in the rounds of daemon-c32, against its bound; the column p95 is over the rounds",
        target: "under 50 ms",
        met: ({ p95 }) => p95 < 50,
      },
    ],
  ];
}

const bound = "against its bound";

function claimRows(): readonly (readonly [string, Meaning])[] {
  return [
    [
      "claims-prepare",
      {
        what: "NodePrepareResources of one claim by gRPC, against a read of the claim from the API",
        target: "median at most 5 ms",
        met: below(5),
      },
    ],
    [
      "claims-pod0",
      {
        what: "ADD of a pod whose further network a claim asks for, through the daemon, against the same network by annotation",
        target: "median at most 1 ms above",
        met: medianAbove(1),
      },
    ],
    [
      "claims-memory",
      {
        what: "resident set of a daemon with 1,000 claims on its node, after 30 pods, against a daemon with one claim",
        target: "at most 15 MiB above",
        met: medianAbove(15),
      },
    ],
  ];
}

function policyRows(): readonly (readonly [string, Meaning])[] {
  return [
    [
      "policies-pod0",
      {
        what: "ADD of a pod on a further network with 20 policies of 25 peers each through the daemon, against the same pod without the key `policies`",
        target: "median at most 1.5 ms above",
        met: medianAbove(1.5),
      },
    ],
    [
      "policy-change",
      {
        what: "from a change of a policy's peers at the API until the kernel of 1,000 local pods has it, against a policy of one of these pods",
        target: "none of its own",
      },
    ],
    [
      "policies-rss",
      {
        what: "resident set of the daemon with 50 pods and 200 policies of 25 peers each, against the same pods without the key `policies`",
        target: "at most 10 MiB above",
        met: medianAbove(10),
      },
    ],
  ];
}

function serviceRows(): readonly (readonly [string, Meaning])[] {
  const services = "10,000 Services and 60,000 pods on 200 further networks";
  return [
    [
      "service-endpoint-change",
      {
        what: `from a pod's readiness at the API, through the controller and a daemon, until the kernel of 100 local pods has the endpoint, ${bound}`,
        target: "median at most 500 ms",
        met: below(500),
      },
    ],
    [
      "services-100-nodes",
      {
        what: `simulation: from a pod's readiness until 100 nodes balance it, with ${services}; each change is one PATCH for each slice, ${bound}`,
        target: "median at most 500 ms",
        met: below(500),
      },
    ],
    [
      "services-rss",
      { what: `resident set of the controller with ${services}, ${bound}`, target: "at most 200 MiB", met: below(200) },
    ],
    [
      "services-rss-peak",
      { what: `maximum resident set of the controller in the same run, ${bound}`, target: "none of its own" },
    ],
  ];
}

/** The descriptions, by the row's id. */
export const meanings: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ...guestRows(),
  ...claimRows(),
  ...policyRows(),
  ...serviceRows(),
  [
    "trace-off",
    {
      what: "ADD of bridge, WASM IPAM and WASM status-shaper through a daemon with `chainTrace` for other pods, against the same without the key",
      target: "ratio below 1.01",
      met: ratioAtMost(1.01),
    },
  ],
  [
    "trace-on",
    {
      what: "the same ADD with a chain trace, against the same without the key",
      target: "none: an administrator chooses the calls",
    },
  ],
  [
    "one-shot-start",
    {
      what: "VERSION through a one-shot engine, including the shim, against bare Node (`node -e 0`)",
      target: "ratio at most 1.5",
      met: ratioAtMost(1.5),
    },
  ],
  [
    "shim-version",
    {
      what: "VERSION through the shim with a daemon that answers at once, against `/bin/true`",
      target: "at most 2 ms",
      met: below(2),
    },
  ],
  [
    "shim-rss",
    {
      what: `maximum resident set of the shim in an ADD, measured while a native plugin runs, ${bound}`,
      target: "at most 2 MiB",
      met: ({ p95 }) => p95 <= 2,
    },
  ],
  [
    "fresh-instance",
    { what: "DEL of WASM status-shaper on a new instance, including its time limit, against `/bin/true`", target: "none" },
  ],
  [
    "ipam-step",
    {
      what: "warm ADD of WASM ipam-host-local, including its instance, its leases on disk and their flock, against executing native host-local",
      target: "under 1 ms, ratio at most 0.2 (after 1500 calls: see below)",
      met: ({ median, ratio }) => median < 1 && ratio <= 0.2,
    },
  ],
  [
    "one-shot-add",
    {
      what: "ADD of bridge + WASM IPAM, WASM status-shaper and tuning through a one-shot engine, delegates in its process, against direct calls of the native plugins",
      target: oneShotStart,
    },
  ],
  ["one-shot-add-process", { what: "the same, delegates in sandbox processes (the default)", target: oneShotStart }],
  [
    "one-shot-api",
    {
      what: "ADD with one secondary network, definition and pod from an API server over TLS, with a PATCH of the status, against the same from manifests",
      target: "none",
    },
  ],
  ...oneShotPods(),
  ...daemonPods(),
  ...concurrentRows(),
  [
    "daemon-status",
    {
      what: `99th percentile of 500 STATUS calls through the idle daemon, ${bound}`,
      target: "under 50 ms",
      met: below(50),
    },
  ],
  [
    "daemon-status-loaded",
    {
      what: `99th percentile of 200 STATUS calls while 32 ADDs and DELs run, ${bound}`,
      target: "under 200 ms",
      met: below(200),
    },
  ],
  [
    "daemon-del-api-down",
    {
      what: "DEL through the daemon with the API server stopped, against a direct DEL of native bridge + host-local",
      target: "at most 10 ms above",
      met: medianAbove(10),
    },
  ],
  ...delegateRows(),
  ...wasmOnlyRows(),
  ...(["attach", "detach"] as const).map(
    (change) =>
      [
        `hotplug-${change}`,
        {
          what: `from the change of a running pod's annotation at the API server to its ${change}ed interface, against the plugin's own time`,
          target: "at most 100 ms above",
          met: medianAbove(100),
        },
      ] as const,
  ),
  [
    "pool-ipam-step",
    {
      what: "ADD of an address of a pool of the cluster through the daemon, against the same with an address of the node",
      target: "at most 0.3 ms above",
      met: medianAbove(0.3),
    },
  ],
  [
    "pool-allocate",
    {
      what: `2,048 addresses of one pool through 32 daemons with one API server, none twice, beside blocks of 10 nodes that are gone, ${bound}; the first of the 3 rounds (p95) finds daemons that have made no ADD yet, all on 2 cores`,
      target: "under 10 s",
      met: below(10_000),
    },
  ],
  [
    "pool-allocate-faults",
    {
      what: "the same amid faults: one daemon after the other is killed and started again, with half a second between them, and the API server once. Failed calls are repeated; the baseline is the bound without faults",
      target: "no address twice, or there is no figure",
      goal: { text: "under 10 s", met: below(10_000) },
    },
  ],
  [
    "pool-allocate-whereabouts",
    {
      what: "the same through whereabouts on 32 nodes, against `pool-allocate` of the same run",
      target: "for comparison",
    },
  ],
  ...multusRows(),
  ...sandboxRows,
  ...copyRows,
  ...sparseRows(),
  [
    "daemon-burst",
    {
      what: "growth of the daemon's maximum resident set during 150 ADDs at once, each with a native plugin of 55 MB, against one such plugin",
      target: "less than one plugin",
      met: faster,
    },
  ],
  [
    "daemon-rss",
    {
      what: `RSS of the engine after 10,000 ADD/DEL cycles with three delegates, ${bound}`,
      target: "at most 120 MiB",
      met: below(120),
      goal: { text: "at most 75 MiB", met: below(75) },
    },
  ],
  [
    "daemon-rss-family",
    {
      what: `proportional set size of engine and sandbox processes together after these cycles, ${bound}`,
      target: "at most 220 MiB",
      met: below(220),
      goal: { text: "at most 100 MiB", met: below(100) },
    },
  ],
  [
    "daemon-rss-family-copy",
    {
      what: "the same with `--sandbox-start copy`: sandbox processes are copies of a zygote. Against the aim of 100 MiB",
      target: "at most 100 MiB",
      met: below(100),
    },
  ],
  [
    "daemon-rss-idle",
    {
      what: "proportional set size of a daemon with two idle sandbox processes, before its first call and with no component of before, against the aim of 60 MiB",
      target: "at most 60 MiB",
      met: below(60),
    },
  ],
  [
    "daemon-rss-idle-copy",
    { what: "the same with `--sandbox-start copy`, against the same aim", target: "at most 60 MiB", met: below(60) },
  ],
  [
    "daemon-rss-growth",
    {
      what: "RSS of the engine after 10,000 cycles, against after 2,000",
      target: "growth under 5 %",
      met: ({ ratio }) => ratio < 1.05,
    },
  ],
  [
    "daemon-rss-family-growth",
    {
      what: "proportional set size of engine and sandbox processes after 10,000 cycles, against after 2,000",
      target: "growth under 5 %",
      met: ({ ratio }) => ratio < 1.05,
    },
  ],
  [
    "daemon-rss-large",
    {
      what: `RSS of the engine after ADD and DEL of 1,000 pods with 60,000 pods and 2,000 definitions in the API server, ${bound}`,
      target: "at most 120 MiB",
      met: below(120),
      goal: { text: "at most 85 MiB", met: below(85) },
    },
  ],
  ["daemon-rss-large-peak", { what: "maximum RSS of the engine in the same run, against the same bound", target: "none" }],
  [
    "controller-rss-large",
    {
      what: `RSS of plexus-controller with 60,000 pods that name PodNetworks and 2,000 definitions in the API server, ${bound}`,
      target: "at most 150 MiB",
      met: below(150),
    },
  ],
  [
    "controller-rss-large-peak",
    { what: "maximum RSS of plexus-controller in the same run, against the same bound", target: "none" },
  ],
  ["daemon-rss-large-small", { what: "RSS of the engine with that cluster, against a small cluster", target: "none" }],
  [
    "network-api-rss",
    {
      what: `RSS of the engine with that cluster and the CRI Network API: 100 networks of 16 KiB, each set 10 times, 50 lists, 4 clients that watch, ${bound}`,
      target: "at most 120 MiB",
      met: below(120),
    },
  ],
  [
    "daemon-first-call",
    {
      what: "first ADD of a daemon that has copies of the components, two WASM steps, against a daemon that has none",
      target: "ratio under 1",
      met: faster,
    },
  ],
]);

/** The row's target, and whether the row meets it. */
export function verdict(row: Row): string {
  const { target = "", met, goal } = meanings.get(row.id) ?? {};
  const ofTarget = met === undefined ? target : `${target}: ${metText(met(row))}`;
  return goal === undefined ? ofTarget : `${ofTarget}; goal ${goal.text}: ${metText(goal.met(row))}`;
}

function metText(isMet: boolean): string {
  return isMet ? "met" : "**NOT MET**";
}
