// wasm-only-… and floor-…: the rows of pods that only sandboxed delegates attach.

import type { Throughput } from "./crowded.ts";
import { type Benchmark, quantile, type Samples, type Unit } from "./measure.ts";
import type { PodTimes } from "./rotation.ts";
import { crowdPods, manyLinks, measureWasmOnly, type Name, type WasmOnly } from "./wasm-only.ts";

let measured: Promise<WasmOnly | string> | undefined;

interface RowInit {
  readonly id: string;
  readonly title: string;
  readonly target: string;
  readonly unit?: Unit;
  readonly difference?: boolean;
}

/** A string instead of samples is the reason why there are none. */
function row(init: RowInit, of: (taken: WasmOnly) => Samples | string): Benchmark {
  return {
    ...init,
    async sample() {
      measured ??= measureWasmOnly();
      const taken = await measured;
      return typeof taken === "string" ? taken : of(taken);
    },
  };
}

const whats: Readonly<Record<Name, string>> = {
  bare: "native bridge + host-local called directly",
  floor: "the C program that does the same kernel work",
  wasm: "bridge-adapter + ipam-host-local through plexus and its daemon",
  oneShot: "bridge-adapter + ipam-host-local through plexus and a one-shot engine, in its process",
  oneShotProcess: "bridge-adapter + ipam-host-local through plexus and a one-shot engine, in sandbox processes",
  wasmApi: "bridge-adapter + ipam-host-local through plexus, its daemon and a real API server",
  thick: "thick Multus, native bridge + host-local and the same API server",
};

type Verb = keyof PodTimes;
type Which = "pod0" | "oneShot" | "pod3" | "pod0Links";

function podRow(init: Omit<RowInit, "title"> & { readonly which?: Which }, verb: Verb, subject: Name, baseline: Name): Benchmark {
  const { which = "pod0", ...rest } = init;
  const networks = which === "pod3" ? "three secondaries" : "its default network";
  const title = `${verb.toUpperCase()} of a pod with ${networks}, ${whats[subject]} / ${whats[baseline]}`;
  return row({ ...rest, title }, (taken) => {
    const [of, against] = [taken[which].get(subject), taken[which].get(baseline)];
    return of === undefined || against === undefined
      ? (taken.missingApiReason ?? "not measured")
      : { subject: of[verb], baseline: against[verb] };
  });
}

const ratesOf = (taken: readonly Throughput[], of: "both" | "add" | "del"): readonly number[] => taken.map((each) => each[of]);

function crowdRow(init: Omit<RowInit, "title" | "unit">, of: "both" | "add" | "del", subject: Name, baseline: Name): Benchmark {
  const verbs = { both: "ADD and DEL", add: "ADD", del: "DEL" }[of];
  const title = `${verbs} of ${crowdPods} pods, 32 at once, ${whats[subject]} / ${whats[baseline]}`;
  return row({ ...init, title, unit: "pods/s" }, ({ crowd, missingApiReason }) => {
    const [subjectRounds, baselineRounds] = [crowd.get(subject), crowd.get(baseline)];
    if (subjectRounds === undefined || baselineRounds === undefined) return missingApiReason ?? "not measured";
    return { subject: ratesOf(subjectRounds, of), baseline: ratesOf(baselineRounds, of), inRounds: true };
  });
}

function cpuRow(init: Omit<RowInit, "title" | "unit">, subject: Name, baseline: Name): Benchmark {
  const title = `CPU time of one of these ADDs, user and system, daemon, sandbox processes and plugins included, ${whats[subject]} / ${whats[baseline]}`;
  return row({ ...init, title, unit: "CPU ms" }, ({ crowd, missingApiReason }) => {
    const [subjectRounds, baselineRounds] = [crowd.get(subject), crowd.get(baseline)];
    if (subjectRounds === undefined || baselineRounds === undefined) return missingApiReason ?? "not measured";
    return { subject: subjectRounds.map(({ addCpu }) => addCpu), baseline: baselineRounds.map(({ addCpu }) => addCpu) };
  });
}

const addsOf = (taken: ReadonlyMap<string, PodTimes>, name: Name): readonly number[] => taken.get(name)?.add ?? [];

/** The ADD with many links. The baseline is the floor's ADD with many links plus the difference of wasm and floor without them. */
function grownAsFloor({ pod0, pod0Links }: WasmOnly): Samples {
  const above = quantile(addsOf(pod0, "wasm"), 0.5) - quantile(addsOf(pod0, "floor"), 0.5);
  return { subject: addsOf(pod0Links, "wasm"), baseline: addsOf(pod0Links, "floor").map((ms) => ms + above) };
}

const comparison = "none: for comparison";

/** `floor`, `wasm-only-pod0`, `-pod3`, `wasm-only-c32` and their further rows. */
export const wasmOnlyBenchmarks: readonly Benchmark[] = [
  podRow({ id: "floor", target: comparison }, "add", "floor", "bare"),
  podRow({ id: "floor-del", target: comparison }, "del", "floor", "bare"),
  podRow({ id: "wasm-only-pod0", target: "ratio ≤ 0.5" }, "add", "wasm", "bare"),
  podRow({ id: "wasm-only-pod0-del", target: comparison }, "del", "wasm", "bare"),
  podRow({ id: "wasm-only-pod0-floor", target: "median at most 3.5 ms above", difference: true }, "add", "wasm", "floor"),
  podRow({ id: "wasm-only-pod0-floor-del", target: "median at most 4 ms above", difference: true }, "del", "wasm", "floor"),
  podRow({ id: "wasm-only-pod0-multus", target: "ratio ≤ 0.2" }, "add", "wasmApi", "thick"),
  podRow({ id: "wasm-only-pod0-multus-del", target: comparison }, "del", "wasmApi", "thick"),
  podRow({ id: "wasm-only-one-shot", which: "oneShot", target: comparison }, "add", "oneShot", "bare"),
  podRow({ id: "wasm-only-one-shot-del", which: "oneShot", target: comparison }, "del", "oneShot", "bare"),
  podRow({ id: "wasm-only-one-shot-process", which: "oneShot", target: comparison }, "add", "oneShotProcess", "bare"),
  podRow({ id: "wasm-only-one-shot-process-del", which: "oneShot", target: comparison }, "del", "oneShotProcess", "bare"),
  podRow({ id: "wasm-only-pod3", which: "pod3", target: "ratio ≤ 0.2" }, "add", "wasmApi", "thick"),
  podRow({ id: "wasm-only-pod3-del", which: "pod3", target: comparison }, "del", "wasmApi", "thick"),
  podRow({ id: "wasm-only-pod3-native", which: "pod3", target: comparison }, "add", "wasmApi", "bare"),
  podRow({ id: "wasm-only-pod3-floor", which: "pod3", target: comparison, difference: true }, "add", "wasmApi", "floor"),
  crowdRow({ id: "wasm-only-c32", target: "ratio ≥ 6" }, "both", "wasm", "bare"),
  crowdRow({ id: "wasm-only-c32-add", target: comparison }, "add", "wasm", "bare"),
  crowdRow({ id: "wasm-only-c32-del", target: comparison }, "del", "wasm", "bare"),
  crowdRow({ id: "wasm-only-c32-multus", target: comparison }, "both", "wasmApi", "thick"),
  crowdRow({ id: "floor-c32", target: comparison }, "both", "floor", "bare"),
  cpuRow({ id: "wasm-only-cpu", target: comparison }, "wasm", "bare"),
  cpuRow({ id: "wasm-only-cpu-floor", target: comparison }, "wasm", "floor"),
  cpuRow({ id: "wasm-only-cpu-multus", target: comparison }, "wasmApi", "thick"),
  row(
    {
      id: "wasm-only-rss",
      title: `proportional set size of plexusd with the processes of two components / of multus-daemon, after these pods`,
      target: comparison,
      unit: "MiB",
    },
    ({ memory, missingApiReason }) =>
      memory === undefined ? (missingApiReason ?? "not measured") : { subject: [memory.wasmApi], baseline: [memory.thick] },
  ),
  row(
    {
      id: "floor-links",
      title: `ADD of a pod on a host with ${manyLinks} links / without them, ${whats.floor}`,
      target: comparison,
    },
    ({ pod0, pod0Links }) => ({ subject: addsOf(pod0Links, "floor"), baseline: addsOf(pod0, "floor") }),
  ),
  row(
    {
      id: "wasm-only-links",
      title: `ADD of a pod on a host with ${manyLinks} links, ${whats.wasm} / the sum of the same ADD without them and the time that the C program takes longer there`,
      target: "ratio ≤ 1.05",
    },
    grownAsFloor,
  ),
];
