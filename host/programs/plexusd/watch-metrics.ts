// Reports the daemon's watches of the Kubernetes API, as metrics and as a sentence for the status.

import type { Informers } from "../../cluster/api/informers.ts";
import type { ReflectorState } from "../../cluster/kube/reflector.ts";
import type { Metrics } from "../../telemetry/metrics/metrics.ts";

const collections = ["pods", "definitions", "networks"] as const;

/** Sets the gauges for all API servers together. A collection is live only if it is live on all of them. */
export function collectWatches(metrics: Metrics, all: readonly Informers[]): void {
  for (const collection of collections) {
    const states = all.flatMap(({ states: { [collection]: watched } }) => watched);
    const labels = { collection };
    metrics.set("plexus_watch_objects", labels, sumOf(states.map(({ objects }) => objects)));
    metrics.set("plexus_watch_lists_total", labels, sumOf(states.map(({ lists }) => lists)));
    if (states.length > 0) metrics.set("plexus_watch_live", labels, states.every(({ live }) => live) ? 1 : 0);
    const counts = all.map((each) => each.counts[collection]);
    metrics.set("plexus_lookups_total", { ...labels, answer: "memory" }, sumOf(counts.map(({ held }) => held)));
    metrics.set("plexus_lookups_total", { ...labels, answer: "api" }, sumOf(counts.map(({ asked }) => asked)));
  }
}

/**
 * Whether pods and definitions are up to date. PodNetworks do not count: an administrator may remove their kinds while daemons run, and calls ask
 * the API server then.
 */
export function watchesAreLive(all: readonly Informers[]): boolean {
  const states = all.flatMap(({ states: { pods, definitions } }) => [...pods, ...definitions]);
  return all.length === 0 || (states.length > 0 && states.every(({ live }) => live));
}

/** The sentence for the status document. */
export function watchSentence(all: readonly Informers[]): string {
  const states = all.flatMap(statesOf);
  if (states.length === 0) return "nothing is watched, because no call named a cluster yet";
  return states
    .map(
      ({ what, live, objects, problem }) =>
        `${what}: ${live ? `${objects} in memory` : `not live (${problem || "catching up"}), so calls ask the API server`}`,
    )
    .join("; ");
}

function statesOf({ states: { pods, definitions, networks } }: Informers): readonly ReflectorState[] {
  return [...pods, ...definitions, ...networks];
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
