// multus-…: the rows of the comparison of Plexus with Multus.

import type { Throughput } from "./crowded.ts";
import type { Benchmark, Samples, Unit } from "./measure.ts";
import { compare, type Comparison, crowdPods, crowdRounds, type Meta, secondaries, whats } from "./multus-comparison.ts";

let compared: Promise<Comparison | string> | undefined;

function row(id: string, title: string, target: string, unit: Unit, of: (comparison: Comparison) => Samples): Benchmark {
  return {
    id,
    title,
    target,
    unit,
    async sample() {
      compared ??= compare();
      const comparison = await compared;
      return typeof comparison === "string" ? comparison : of(comparison);
    },
  };
}

const metas = ["plexus", "thin", "thick"] as const;

function podRows(count: number, name: Meta): readonly Benchmark[] {
  return (["add", "del"] as const).map((verb) =>
    row(
      `multus-pod${count}-${name}${verb === "add" ? "" : "-del"}`,
      `${verb.toUpperCase()} of a pod with ${count} secondaries of a real API through ${whats[name]} / ${whats.bare}`,
      "none: for comparison",
      "ms",
      ({ pods, failures }) => {
        failures.throwAny(`pod${count}`, name);
        const of = pods.get(count);
        return { subject: of?.[name][verb] ?? [], baseline: of?.bare[verb] ?? [] };
      },
    ),
  );
}

const ratesOf = (taken: readonly Throughput[]): readonly number[] => taken.map(({ both }) => both);
const cpuOf = (taken: readonly Throughput[]): readonly number[] => taken.map(({ addCpu }) => addCpu);

export const multusBenchmarks: readonly Benchmark[] = [
  ...secondaries.flatMap((count) => metas.flatMap((name) => podRows(count, name))),
  row(
    "multus-c32",
    `ADD and DEL of ${crowdPods} pods of a real API, 32 at once, through ${whats.plexus} / ${whats.thick}`,
    "ratio ≥ 2.5",
    "pods/s",
    ({ crowd, failures }) => {
      failures.throwAny("crowd", "plexus", "thick");
      return { subject: ratesOf(crowd.plexus), baseline: ratesOf(crowd.thick), inRounds: true };
    },
  ),
  ...metas.map((name) =>
    row(
      `multus-c32-${name}`,
      `ADD and DEL of ${crowdPods} pods of a real API, 32 at once, through ${whats[name]} / ${whats.bare}, without any API`,
      "none: for comparison",
      "pods/s",
      ({ crowd, failures }) => {
        failures.throwAny("crowd", name);
        return { subject: ratesOf(crowd[name]), baseline: ratesOf(crowd.bare), inRounds: true };
      },
    ),
  ),
  ...metas.map((name) =>
    row(
      `multus-cpu-${name}`,
      `CPU time of one ADD, user and system, plugins and daemon included and the API server not, through ${whats[name]} / ${whats.bare}`,
      "none: for comparison",
      "CPU ms",
      ({ crowd, failures }) => {
        failures.throwAny("crowd", name);
        return { subject: cpuOf(crowd[name]), baseline: cpuOf(crowd.bare) };
      },
    ),
  ),
  row(
    "multus-rss-daemon",
    `proportional set size of plexusd and two idle sandbox processes / of multus-daemon, after ${crowdPods * crowdRounds} pods`,
    "none: for comparison",
    "MiB",
    ({ daemons }) => ({ subject: [daemons.plexus], baseline: [daemons.thick] }),
  ),
  ...(["thin", "thick"] as const).map((name) =>
    row(
      `multus-rss-call-${name}`,
      `maximum resident set of the program that the runtime starts: plexus / ${name === "thin" ? "multus" : "multus-shim"}`,
      "none: for comparison",
      "MiB",
      ({ callers, failures }) => {
        failures.throwAny("callers", "plexus", name);
        return { subject: [callers.plexus ?? NaN], baseline: [callers[name] ?? NaN] };
      },
    ),
  ),
];
