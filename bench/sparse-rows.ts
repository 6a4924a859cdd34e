// sparse-…: the rows of a node that starts a pod now and then.

import { type Benchmark, quantile, type Samples } from "./measure.ts";
import {
  measureSparse,
  pauseSeconds,
  type Sparse,
  sparseMinutes,
  type SparseName,
  sparseNames,
  type SparseTimes,
  starts,
} from "./sparse.ts";

let measured: Promise<Sparse | string> | undefined;

function row(id: string, name: SparseName, title: string, target: string, of: (times: SparseTimes) => Samples): Benchmark {
  return {
    id,
    title,
    target,
    async sample() {
      measured ??= measureSparse();
      const taken = await measured;
      const times = typeof taken === "string" ? taken : taken[name];
      return typeof times === "string" ? times : of(times);
    },
  };
}

const whats: Readonly<Record<SparseName, string>> = {
  native: "native bridge + host-local through plexus, its daemon and a real API server",
  "wasm-only": "bridge-adapter + ipam-host-local through plexus, its daemon and a real API server",
  multus: "native bridge + host-local through thick Multus and the same API server",
};

const none = "none: for comparison";
const every = `one ADD every ${pauseSeconds} s for ${sparseMinutes} minutes`;

/** `sparse-NAME`, its maximum, and the first ADD after a start. */
export const sparseBenchmarks: readonly Benchmark[] = sparseNames.flatMap((name) => [
  row(
    `sparse-${name}`,
    name,
    `${every}, ${whats[name]} / ADDs in a row`,
    name === "wasm-only" ? "ratio ≤ 1.2" : none,
    ({ sparse, warm }) => ({ subject: sparse, baseline: warm }),
  ),
  row(`sparse-${name}-max`, name, `the slowest of these ADDs, ${whats[name]} / their median`, none, ({ sparse }) => ({
    subject: [Math.max(...sparse)],
    baseline: [quantile(sparse, 0.5)],
  })),
  row(
    `sparse-${name}-first`,
    name,
    `first ADD after each of ${starts} starts of the daemon, ${whats[name]} / ADDs in a row`,
    none,
    ({ first, warm }) => ({ subject: first, baseline: warm }),
  ),
]);
