// What the rows of pods that sandboxed delegates alone attach compare.

import { comparison, type Meaning, medianAbove, ratioAtLeast, ratioAtMost } from "./performance-target.ts";

const native = "native bridge + host-local called directly";
const floor = "the C program";
const multus = "thick Multus with the native plugins and the same API";
const resident = "WASM bridge-adapter + ipam-host-local through the daemon";
const withApi = `${resident} and a real API`;

type Entry = readonly [string, Meaning];

function pod(id: string, what: string, target: string, met?: NonNullable<Meaning["met"]>): readonly Entry[] {
  return [
    [id, met === undefined ? { what: `ADD of ${what}`, target } : { what: `ADD of ${what}`, target, met }],
    [`${id}-del`, { what: `DEL of ${what}`, target: comparison }],
  ];
}

function crowd(id: string, who: string, of: string): Entry {
  return [id, { what: `${of} of 200 pods, 32 at once, ${who}; pods a second`, target: comparison }];
}

function cpu(id: string, who: string): Entry {
  const what = `CPU time of one of those ADDs, user and system, daemon, sandbox processes and plugins included, the API server not, ${who}`;
  return [id, { what, target: comparison }];
}

/** Rows `wasm-only-…` and `floor-…`. */
export function wasmOnlyRows(): readonly (readonly [string, Meaning])[] {
  const lone = "a pod with its default network only";
  const three = "a pod with three secondary networks";
  return [
    ...pod(
      "floor",
      `${lone}: ${floor} that does the kernel work of bridge + host-local and nothing else, against ${native}`,
      comparison,
    ),
    ...pod("wasm-only-pod0", `${lone}, ${resident}, against ${native}`, "ratio at most 0.5", ratioAtMost(0.5)),
    [
      "wasm-only-pod0-floor",
      { what: `the same ADD, against ${floor}`, target: "median at most 3.5 ms above", met: medianAbove(3.5) },
    ],
    [
      "wasm-only-pod0-floor-del",
      { what: `the same DEL, against ${floor}`, target: "median at most 4 ms above", met: medianAbove(4) },
    ],
    ...pod("wasm-only-pod0-multus", `${lone}, ${withApi}, against ${multus}`, "ratio at most 0.2", ratioAtMost(0.2)),
    ...pod("wasm-only-one-shot", `${lone}, the same delegates through a one-shot brain, against ${native}`, comparison),
    ...pod("wasm-only-pod3", `${three}, ${withApi}, against ${multus}`, "ratio at most 0.2", ratioAtMost(0.2)),
    ["wasm-only-pod3-native", { what: `the same ADD, against the sum of ${native}`, target: comparison }],
    ["wasm-only-pod3-floor", { what: `the same ADD, against the sum of ${floor}'s`, target: comparison }],
    [
      "wasm-only-c32",
      {
        what: `ADD and DEL of 200 pods, 32 at once, ${resident}, against ${native}; pods a second`,
        target: "at least 6 times",
        met: ratioAtLeast(6),
      },
    ],
    crowd("wasm-only-c32-add", `${resident}, against ${native}`, "ADD"),
    crowd("wasm-only-c32-del", `${resident}, against ${native}`, "DEL"),
    crowd("wasm-only-c32-multus", `${withApi}, against ${multus}`, "ADD and DEL"),
    crowd("floor-c32", `${floor}, against ${native}`, "ADD and DEL"),
    cpu("wasm-only-cpu", `${resident}, against ${native}`),
    cpu("wasm-only-cpu-floor", `${resident}, against ${floor}`),
    cpu("wasm-only-cpu-multus", `${withApi}, against ${multus}`),
    ["floor-links", { what: `ADD by ${floor} on a host with 2,000 links, against without them`, target: comparison }],
    [
      "wasm-only-links",
      {
        what: `ADD of ${lone} on a host with 2,000 links, ${resident}, against the same without them and what ${floor} takes longer there`,
        target: "ratio at most 1.05",
        met: ratioAtMost(1.05),
      },
    ],
  ];
}
