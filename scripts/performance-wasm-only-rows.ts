// The benchmark's rows for pods that only WASM delegates attach.

import { comparison, type Goal, type Meaning, medianAbove, ratioAtLeast, ratioAtMost } from "./performance-target.ts";

const native = "direct calls of native bridge + host-local";
const cProgram = "the C program";
const multus = "thick Multus with the native plugins and the same API server";
const daemon = "WASM bridge-adapter + ipam-host-local through the daemon";
const daemonWithApi = `${daemon} with an API server`;

type Entry = readonly [string, Meaning];

function pod(id: string, what: string, target: string, met?: NonNullable<Meaning["met"]>, delGoal?: Goal): readonly Entry[] {
  return [
    [id, met === undefined ? { what: `ADD of ${what}`, target } : { what: `ADD of ${what}`, target, met }],
    [`${id}-del`, { what: `DEL of ${what}`, target: comparison, ...(delGoal === undefined ? {} : { goal: delGoal }) }],
  ];
}

function throughput(id: string, verbs: string, compared: string): Entry {
  return [id, { what: `${verbs} of 200 pods, 32 at once, ${compared}; pods a second`, target: comparison }];
}

function cpu(id: string, compared: string, goal?: Goal): Entry {
  const what = `CPU time of one of these ADDs, user and system, with daemon, sandbox processes and plugins, without the API server, ${compared}`;
  return [id, { what, target: comparison, ...(goal === undefined ? {} : { goal }) }];
}

/** The rows `wasm-only-…` and `floor-…`. The C program does only the kernel work of bridge + host-local: the lower bound of an ADD. */
export function wasmOnlyRows(): readonly (readonly [string, Meaning])[] {
  const lone = "a pod with only its default network";
  const three = "a pod with three secondary networks";
  return [
    ...pod("floor", `${lone}: ${cProgram} that does only the kernel work of bridge + host-local, against ${native}`, comparison),
    ...pod("wasm-only-pod0", `${lone}, ${daemon}, against ${native}`, "ratio at most 0.5", ratioAtMost(0.5), {
      text: "ratio at most 0.6",
      met: ratioAtMost(0.6),
    }),
    [
      "wasm-only-pod0-floor",
      { what: `the same ADD, against ${cProgram}`, target: "median at most 3.5 ms above", met: medianAbove(3.5) },
    ],
    [
      "wasm-only-pod0-floor-del",
      { what: `the same DEL, against ${cProgram}`, target: "median at most 4 ms above", met: medianAbove(4) },
    ],
    ...pod("wasm-only-pod0-multus", `${lone}, ${daemonWithApi}, against ${multus}`, "ratio at most 0.2", ratioAtMost(0.2)),
    ...pod(
      "wasm-only-one-shot",
      `${lone}, the same delegates through a one-shot engine, in its process (\`wasm.isolation: "in-process"\`), against ${native}`,
      comparison,
    ),
    ...pod(
      "wasm-only-one-shot-process",
      `${lone}, the same delegates through a one-shot engine, in sandbox processes (the default), against ${native}`,
      comparison,
    ),
    ...pod("wasm-only-pod3", `${three}, ${daemonWithApi}, against ${multus}`, "ratio at most 0.2", ratioAtMost(0.2)),
    ["wasm-only-pod3-native", { what: `the same ADD, against the sum of ${native}`, target: comparison }],
    ["wasm-only-pod3-floor", { what: `the same ADD, against the sum of ${cProgram}`, target: comparison }],
    [
      "wasm-only-c32",
      {
        what: `ADD and DEL of 200 pods, 32 at once, ${daemon}, against ${native}; pods a second`,
        target: "at least 6 times",
        met: ratioAtLeast(6),
        goal: { text: "at least 2.2 times", met: ratioAtLeast(2.2) },
      },
    ],
    throughput("wasm-only-c32-add", "ADD", `${daemon}, against ${native}`),
    throughput("wasm-only-c32-del", "DEL", `${daemon}, against ${native}`),
    throughput("wasm-only-c32-multus", "ADD and DEL", `${daemonWithApi}, against ${multus}`),
    throughput("floor-c32", "ADD and DEL", `${cProgram}, against ${native}`),
    cpu("wasm-only-cpu", `${daemon}, against ${native}`, { text: "ratio at most 0.45", met: ratioAtMost(0.45) }),
    cpu("wasm-only-cpu-floor", `${daemon}, against ${cProgram}`),
    cpu("wasm-only-cpu-multus", `${daemonWithApi}, against ${multus}`),
    [
      "wasm-only-rss",
      {
        what: "proportional set size of plexusd with the processes of its two components, against multus-daemon, after these pods",
        target: comparison,
      },
    ],
    ["floor-links", { what: `ADD by ${cProgram} on a host with 2,000 links, against a host without them`, target: comparison }],
    [
      "wasm-only-links",
      {
        what: `ADD of ${lone} on a host with 2,000 links, ${daemon}, against the sum of the same ADD without these links and the time that ${cProgram} takes longer with them`,
        target: "ratio at most 1.05",
        met: ratioAtMost(1.05),
      },
    ],
  ];
}
