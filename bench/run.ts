// `npm run bench` runs the benchmarks and prints a table. `--json FILE` writes an array of
// {id, unit, n, median, p95, baseline, baselineP95, ratio}; a benchmark that fails is {id, failed: TEXT}. `--only ID`
// (repeatable) runs only these benchmarks; `--only sandbox` runs all rows `sandbox-…`. The exit status is 1 if a benchmark fails, and 2 for wrong arguments.

import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { apiDownBenchmark } from "./api-down.ts";
import { burstBenchmark } from "./bursts.ts";
import { chainTraceBenchmarks } from "./chain-traces.ts";
import { crowdedBenchmarks } from "./crowded.ts";
import { cycleBenchmarks } from "./cycles.ts";
import { delegateBenchmarks } from "./delegates.ts";
import { daemonPodBenchmarks } from "./daemon-pods.ts";
import { firstCall } from "./first-call.ts";
import { freshInstance } from "./fresh-instance.ts";
import { guestBenchmarks } from "./guest.ts";
import { hotPlugBenchmarks } from "./hot-plug.ts";
import { shimMemory } from "./shim-memory.ts";
import { shimVersion } from "./shim-version.ts";
import { ipamStep } from "./ipam-step.ts";
import { claimBenchmarks } from "./claims.ts";
import { copyBenchmarks } from "./copies.ts";
import { controllerBenchmarks } from "./controller-memory.ts";
import { largeClusterBenchmarks } from "./large-cluster.ts";
import { differenceOf, summary, type Benchmark, type Measured } from "./measure.ts";
import { multusBenchmarks } from "./multus.ts";
import { oneShotAdds } from "./one-shot-add.ts";
import { oneShotApi } from "./one-shot-api.ts";
import { policyBenchmarks } from "./policies.ts";
import { poolBenchmarks } from "./pools.ts";
import { podBenchmarks } from "./pods.ts";
import { oneShotStart } from "./one-shot-start.ts";
import { sandboxBenchmarks } from "./sandbox.ts";
import { serviceBenchmarks } from "./services.ts";
import { statusBenchmarks } from "./statuses.ts";
import { sparseBenchmarks } from "./sparse-rows.ts";
import { wasmOnlyBenchmarks } from "./wasm-only-rows.ts";

const benchmarks: readonly Benchmark[] = [
  oneShotStart,
  shimVersion,
  shimMemory,
  freshInstance,
  ipamStep,
  ...oneShotAdds,
  oneShotApi,
  ...podBenchmarks,
  ...daemonPodBenchmarks,
  ...crowdedBenchmarks,
  ...statusBenchmarks,
  apiDownBenchmark,
  ...delegateBenchmarks,
  ...wasmOnlyBenchmarks,
  ...sparseBenchmarks,
  ...multusBenchmarks,
  burstBenchmark,
  ...cycleBenchmarks,
  ...largeClusterBenchmarks,
  ...controllerBenchmarks,
  firstCall,
  ...sandboxBenchmarks,
  ...copyBenchmarks,
  ...guestBenchmarks,
  ...chainTraceBenchmarks,
  ...hotPlugBenchmarks,
  ...claimBenchmarks,
  ...poolBenchmarks,
  ...policyBenchmarks,
  ...serviceBenchmarks,
];

interface Failed {
  readonly id: string;
  /** The reason why the benchmark has no figures. */
  readonly failed: string;
}

interface Options {
  readonly json: string | undefined;
  readonly chosen: readonly Benchmark[];
}

function options(): Options {
  const { values } = parseArgs({ options: { json: { type: "string" }, only: { type: "string", multiple: true } } });
  const ids = benchmarks.map(({ id }) => id);
  // An id, or what several ids begin with: `sandbox` means all rows `sandbox-…`.
  const only = (values.only ?? ids).flatMap((name) => {
    const group = ids.filter((id) => id.startsWith(`${name}-`));
    return ids.includes(name) || group.length === 0 ? [name] : group;
  });
  const unknown = only.filter((id) => !benchmarks.some((benchmark) => benchmark.id === id));
  if (unknown.length > 0) throw new Error(`--only ${unknown.join(", ")}: no such benchmark; there are ${ids.join(", ")}`);
  return { json: values.json, chosen: benchmarks.filter((benchmark) => only.includes(benchmark.id)) };
}

function ms(value: number): string {
  return value < 10 ? value.toFixed(3) : value.toFixed(1);
}

function row(columns: readonly string[]): string {
  const widths = [26, 6, 10, 10, 10, 8];
  return columns.map((column, i) => (i === 0 ? column.padEnd(widths[i] ?? 0) : column.padStart(widths[i] ?? 0))).join("  ");
}

async function main(): Promise<number> {
  let chosen: Options;
  try {
    chosen = options();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  }
  const measured: Measured[] = [];
  const results: (Measured | Failed)[] = [];
  console.log(row(["id", "n", "median", "p95", "baseline", "ratio"]));
  for (const benchmark of chosen.chosen) {
    try {
      const samples = await benchmark.sample();
      if (typeof samples === "string") {
        console.log(`${benchmark.id}: not measured: ${samples}`);
        continue;
      }
      const result = summary(benchmark.id, samples, benchmark.unit);
      measured.push(result);
      results.push(result);
      const numbers = [ms(result.median), ms(result.p95), ms(result.baseline), result.ratio.toFixed(2)];
      console.log(`${row([result.id, String(result.n), ...numbers])}  ${result.unit}`);
      if (benchmark.difference === true) {
        const { median, p95 } = differenceOf(samples);
        console.log(`  above the baseline: ${ms(median)} at the median, ${ms(p95)} at p95`);
      }
      console.log(`  ${benchmark.title}; target: ${benchmark.target}`);
    } catch (error) {
      const failed = error instanceof Error ? error.message : String(error);
      results.push({ id: benchmark.id, failed });
      process.stderr.write(`${benchmark.id}: failed: ${failed}\n`);
    }
  }
  console.log(`${measured.length} rows in ${(performance.now() / 1000).toFixed(0)} s`);
  if (chosen.json !== undefined) writeFileSync(chosen.json, `${JSON.stringify(results, null, 2)}\n`);
  return results.length === measured.length ? 0 : 1;
}

for (const variable of ["NODE_EXTRA_CA_CERTS", "NODE_OPTIONS"]) delete process.env[variable];
process.exitCode = await main();
