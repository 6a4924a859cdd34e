// `npm run test:steady -- --runs N [--record FILE]`: runs `npm test` N times beside a load, and prints each failure with its file. A failure whose
// repetition passed counts as a failure here. With --record the runs are added to FILE, from which `npm run docs` makes a page.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { root, testDist } from "../../test/lab/compiled.ts";
import { startLoad, steadyLoad } from "./load.ts";
import type { SteadyRun } from "./steady-runs.ts";
import { countsOf, type RepeatedRun } from "./test-report.ts";

const { values } = parseArgs({ options: { runs: { type: "string", default: "1" }, record: { type: "string" } } });
const reportPath = join(testDist, "reports", "test.json");

function commit(): string {
  return spawnSync("git", ["rev-parse", "--short", "HEAD"], { cwd: root, encoding: "utf8" }).stdout.trim();
}

async function runOnce(): Promise<SteadyRun> {
  rmSync(reportPath, { force: true });
  const startedMs = performance.now();
  const load = startLoad(steadyLoad);
  const child = spawn("sh", ["scripts/run.sh", "test"], { cwd: root, stdio: ["ignore", "ignore", "ignore"] });
  const [status] = await once(child, "exit");
  await load.end();
  const facts = {
    date: new Date().toISOString().slice(0, 10),
    commit: commit(),
    minutes: (performance.now() - startedMs) / 60_000,
  };
  if (!existsSync(reportPath)) {
    return { ...facts, passed: 0, skipped: 0, failures: [`npm test ended with status ${status} and no report`] };
  }
  const run = JSON.parse(readFileSync(reportPath, "utf8")) as RepeatedRun;
  const { passed, skipped } = countsOf(run);
  const failures = [...run.failed, ...run.unsteady].map(({ file, test, message }) => `${file}: ${test}: ${message}`);
  return { ...facts, passed, skipped, failures: [...failures, ...run.stray] };
}

let failures = 0;
for (let number = 1; number <= Number(values.runs); number++) {
  const run = await runOnce();
  failures += run.failures.length;
  const { passed, skipped, minutes } = run;
  console.log(`run ${number}: ${passed} passed, ${run.failures.length} failed, ${skipped} skipped, ${minutes.toFixed(1)} min`);
  for (const failure of run.failures) console.log(`  ${failure}`);
  if (values.record === undefined) continue;
  const earlier = existsSync(values.record) ? (JSON.parse(readFileSync(values.record, "utf8")) as SteadyRun[]) : [];
  writeFileSync(values.record, `${JSON.stringify([...earlier, run], undefined, 2)}\n`);
}
process.exit(failures === 0 ? 0 : 1);
