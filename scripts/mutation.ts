// `npm run mutation`: runs mutation testing with Stryker, in a copy of the tree below dist/mutation, and writes the counts to
// docs/reference/mutation.json. Arguments: folders of the list below, or files in them; only their counts are then updated.

import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { foldersOf, type MutationCounts, mutationCounts, mutationPath, scoreOf, sorted } from "./mutation-page.ts";

/** Folders whose code is mutated. The tests in the same folder run against the mutants. */
const folders = ["src/cni", "src/npwg", "host/engine/verbs"];

const directory = "dist/mutation";
const report = join(directory, "report.json");

/** Installs Stryker below dist. It is not a dependency of the project, because few users need its 150 packages. */
function install(): void {
  mkdirSync(directory, { recursive: true });
  const lock = readFileSync("scripts/mutation/package-lock.json", "utf8");
  const installed = join(directory, "installed.json");
  if (read(installed) === lock) return;
  for (const name of ["package.json", "package-lock.json"]) copyFileSync(join("scripts/mutation", name), join(directory, name));
  // With legacy-peer-deps npm does not install Vitest here, so Stryker finds the project's own Vitest in the parent directory.
  run("npm", ["ci", "--legacy-peer-deps", "--ignore-scripts", "--no-fund", "--no-audit", "--loglevel=error"], directory);
  writeFileSync(installed, lock);
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, error } = spawnSync(command, args, { cwd, stdio: "inherit" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${error?.message ?? `exit status ${status}`}`);
}

function configuration(patterns: readonly string[], workers: number): object {
  const runner = join(process.cwd(), directory, "node_modules/@stryker-mutator/vitest-runner/dist/src/index.js");
  return {
    mutate: patterns,
    testRunner: "vitest",
    plugins: [pathToFileURL(runner).href],
    vitest: { configFile: "scripts/mutation/vitest.config.ts", related: false },
    coverageAnalysis: "perTest",
    // A module's constants are evaluated before any test runs, so each mutant of a constant would need a new process for all tests.
    ignoreStatic: true,
    concurrency: workers,
    timeoutMS: 10_000,
    // Stryker would read tsconfig.json with the API of TypeScript, which TypeScript 7 does not have. A missing file prevents that.
    tsconfigFile: "none.json",
    disableTypeChecks: false,
    ignorePatterns: ["/dist", "/deploy", "/wit", "/docs", ".ci"],
    tempDirName: join(directory, "sandbox"),
    reporters: ["progress-append-only", "json", "html", "clear-text"],
    clearTextReporter: { logTests: false, reportTests: false, allowColor: false },
    jsonReporter: { fileName: report },
    htmlReporter: { fileName: join(directory, "report.html") },
  };
}

/** Measures a folder, or some files in it. */
function measure(folder: string, files: readonly string[], workers: number): MutationCounts {
  const file = join(directory, "stryker.config.json");
  const patterns = files.length > 0 ? files : [`${folder}/**/*.ts`, "!**/*.test.ts"];
  writeFileSync(file, JSON.stringify(configuration(patterns, workers), undefined, 2));
  process.env["PLEXUS_MUTATION_TESTS"] = `${folder}/**/*.test.ts`;
  run(process.execPath, [join(directory, "node_modules/@stryker-mutator/core/bin/stryker.js"), "run", file], ".");
  return mutationCounts(JSON.parse(readFileSync(report, "utf8")));
}

function main(): void {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { workers: { type: "string", default: "2" } } });
  const unknown = positionals.filter((path) => !folders.some((folder) => path === folder || path.startsWith(`${folder}/`)));
  if (unknown.length > 0)
    throw new Error(`${unknown.join(", ")}: must be one of ${folders.join(", ")}, or a file in one of them`);
  install();
  for (const folder of folders) {
    const files = positionals.filter((path) => path.startsWith(`${folder}/`));
    if (positionals.length > 0 && files.length === 0 && !positionals.includes(folder)) continue;
    const before: MutationCounts = JSON.parse(read(mutationPath) ?? "{}");
    // Counts of deleted files are dropped.
    const kept = Object.entries(before).filter(([path]) => existsSync(path) && (files.length > 0 || dirname(path) !== folder));
    const counts = sorted({ ...Object.fromEntries(kept), ...measure(folder, files, Number(values.workers)) });
    writeFileSync(mutationPath, `${JSON.stringify(counts, undefined, 2)}\n`);
  }
  for (const { folder, counts } of foldersOf(JSON.parse(readFileSync(mutationPath, "utf8")))) {
    console.log(`${folder}: ${scoreOf(counts)} % of ${counts.mutants}`);
  }
}

main();
