// `node test/lab/multus/build.ts [test|cluster|bench]` runs before tests or the benchmark enter a network namespace
// without internet access, so that Go can fetch the module. For tests it builds thin Multus if PLEXUS_BUILD_MULTUS=1,
// for those on a cluster thick Multus, too. For the benchmark it builds thin and thick Multus if Go is installed, unless PLEXUS_BUILD_MULTUS=0.
// The program prints one line if there is no Multus, and never fails.

import { spawnSync } from "node:child_process";

import { buildMultus, everyMultus, multusPrograms, multusRelease, realMultus } from "./multus-binary.ts";

const forBenchmark = process.argv[2] === "bench";
const forCluster = process.argv[2] === "cluster";
const buildRequested = process.env["PLEXUS_BUILD_MULTUS"] ?? (forBenchmark ? "1" : "0");
const missingReason = forBenchmark || forCluster ? everyMultus : realMultus;
const hasGo = spawnSync("go", ["version"], { stdio: "ignore" }).status === 0;
if (missingReason() !== undefined && buildRequested === "1" && hasGo) {
  process.stderr.write(`plexus: building Multus ${multusRelease} (once: about 2 minutes of two cores)\n`);
  const why = buildMultus(forBenchmark || forCluster ? multusPrograms : ["multus"]);
  if (why !== undefined) process.stderr.write(`plexus: Multus was not built: ${why}\n`);
}
const reason = missingReason();
const skippedTests = forBenchmark ? "the comparison with Multus" : "tests of moving from Multus";
if (reason !== undefined) process.stderr.write(`plexus: ${skippedTests} will be skipped: ${reason}\n`);
