// What the daemon tells of its watching: as metrics, and in a sentence for a person.

import type { Informers } from "../kube/informers.ts";
import type { Metrics } from "../metrics/metrics.ts";

const collections = ["pods", "definitions"] as const;

/** Sets the gauges: of several APIs together, relied on only where all are. */
export function collectWatches(metrics: Metrics, all: readonly Informers[]): void {
  for (const collection of collections) {
    const states = all.flatMap(({ states: { [collection]: state } }) => (state === undefined ? [] : [state]));
    const labels = { collection };
    metrics.set("plexus_watch_objects", labels, sumOf(states.map(({ objects }) => objects)));
    metrics.set("plexus_watch_lists_total", labels, sumOf(states.map(({ lists }) => lists)));
    if (states.length > 0) metrics.set("plexus_watch_live", labels, states.every(({ live }) => live) ? 1 : 0);
    const counts = all.map((each) => each.counts[collection]);
    metrics.set("plexus_lookups_total", { ...labels, answer: "memory" }, sumOf(counts.map(({ held }) => held)));
    metrics.set("plexus_lookups_total", { ...labels, answer: "api" }, sumOf(counts.map(({ asked }) => asked)));
  }
}

/** For the status document. */
export function watchSentence(all: readonly Informers[]): string {
  const states = all.flatMap(({ states: { pods, definitions } }) => [pods, definitions].flatMap((state) => state ?? []));
  if (states.length === 0) return "nothing is watched: no call named a cluster yet";
  return states
    .map(
      ({ what, live, objects, problem }) =>
        `${what}: ${live ? `${objects} held` : `not relied on (${problem || "catching up"})`}`,
    )
    .join("; ");
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
