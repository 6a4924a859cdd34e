// ADD and DEL of a pod with 0, 1 and 3 secondary networks, with one-shot engines.

import { measurePod, type PodTime } from "./pod-calls.ts";
import type { Benchmark, Samples } from "./measure.ts";

/** The rows of ADD and DEL of a pod with `secondaries` secondary networks, which one run measures. */
function rowsOf(id: string, secondaries: number, target: string): readonly Benchmark[] {
  let measured: Promise<Samples<PodTime> | string> | undefined;
  const row = (name: string, verb: "ADD" | "DEL", of: (time: PodTime) => number): Benchmark => ({
    id: name,
    title: `${verb} of a pod with ${secondaries} secondaries, bridge + host-local, through plexus and a one-shot engine / native bridge + host-local called directly, as their sum`,
    target,
    async sample() {
      measured ??= measurePod(secondaries);
      const samples = await measured;
      if (typeof samples === "string") return samples;
      return { subject: samples.subject.map(of), baseline: samples.baseline.map(of) };
    },
  });
  return [row(id, "ADD", ({ add }) => add), row(`${id}-del`, "DEL", ({ del }) => del)];
}

const oneShot = "none yet: most of the time is the one-shot engine's start";

/** `one-shot-pod0`, `-pod1`, `-pod3`: an engine for each call. */
export const podBenchmarks: readonly Benchmark[] = [0, 1, 3].flatMap((secondaries) =>
  rowsOf(`one-shot-pod${secondaries}`, secondaries, oneShot),
);
