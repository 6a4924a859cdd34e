// `node test/conformance/multus/build.ts [test|bench]`: before tests or the benchmark enter a network namespace without a way out, so
// that Go can fetch the module. Tests need thin Multus, where PLEXUS_BUILD_MULTUS=1 asks for it; the benchmark is a comparison with both, so
// it builds them where Go is, unless PLEXUS_BUILD_MULTUS=0. Says in one line where there will be no Multus, and never fails.

import { spawnSync } from "node:child_process";

import { buildMultus, everyMultus, multusPrograms, multusRelease, realMultus } from "./multus-binary.ts";

const forBenchmark = process.argv[2] === "bench";
const asked = process.env["PLEXUS_BUILD_MULTUS"] ?? (forBenchmark ? "1" : "0");
const lacking = forBenchmark ? everyMultus : realMultus;
const hasGo = spawnSync("go", ["version"], { stdio: "ignore" }).status === 0;
if (lacking() !== undefined && asked === "1" && hasGo) {
  process.stderr.write(`plexus: building Multus ${multusRelease} (once: about 2 minutes of two cores)\n`);
  const why = buildMultus(forBenchmark ? multusPrograms : ["multus"]);
  if (why !== undefined) process.stderr.write(`plexus: Multus was not built: ${why}\n`);
}
const reason = lacking();
const what = forBenchmark ? "the comparison with Multus" : "tests of switching from Multus";
if (reason !== undefined) process.stderr.write(`plexus: ${what} will be skipped: ${reason}\n`);
