// The machine of an author: an empty directory outside of the tree, npm, and the packages' archives.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { root } from "../../lab/compiled.ts";

/** The answer of a program. */
export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Seconds from start to end. */
  readonly seconds: number;
}

/** A version that the registry has: that of the kit's dependency. */
const known = "assemblyscript@0.28.20";

/** The reason why npm can't install the tree's packages without a network; undefined if it can. The second user's own cache is empty. */
export function missingPackageCache(): string | undefined {
  return process.env["PLEXUS_TEST_SECOND_USER"] === "1" ? "npm's cache of this user is empty" : undefined;
}

/** The reason why npm can't install from its registry; undefined if it can. The time of an installation depends on the network, so it is chosen. */
export function missingRegistry(): string | undefined {
  if (process.env["PLEXUS_TEST_REGISTRY"] !== "1") return "PLEXUS_TEST_REGISTRY=1 runs it";
  const { status } = spawnSync("npm", ["view", known, "version", "--fetch-retries=0", "--fetch-timeout=5000"], {
    timeout: 900_000,
  });
  return status === 0 ? undefined : "npm's registry can't be reached from here (npm test runs without a network)";
}

/** PATH without the tree's programs if the machine has a Node of its own, as an author's machine has. */
export function authorPath(): string {
  const all = (process.env["PATH"] ?? "").split(delimiter);
  const own = all.filter((directory) => !directory.startsWith(root));
  const hasNode = own.some((directory) => existsSync(join(directory, "node")));
  return (hasNode ? own : [dirname(process.execPath), ...own]).join(delimiter);
}

/** The size of a directory in MiB, each file once. */
export function mebibytes(directory: string): number {
  return Number(execFileSync("du", ["-sm", directory], { encoding: "utf8" }).split("\t", 1)[0]);
}

/** Runs a program in a directory, with an author's environment. */
export function run(cwd: string, path: string, program: string, ...args: readonly string[]): Ran {
  const started = performance.now();
  // npm sets npm_config_* for its scripts, and warns of those that it no longer knows.
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("npm_") && !name.startsWith("PLEXUS_"));
  const env = { ...Object.fromEntries(inherited), PATH: path, NO_COLOR: "1", npm_config_update_notifier: "false" };
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: "utf8", env, timeout: 900_000 });
  return { status, stdout, stderr, seconds: (performance.now() - started) / 1000 };
}

/**
 * Puts installed packages into `directory/node_modules` by hard links: `npm install --offline` then finds the dependencies in place, and
 * removes what the kit does not need. The kit's own packages are not taken from the tree.
 */
export function linkPackages(directory: string): void {
  const installed = join(root, "node_modules");
  const to = join(directory, "node_modules");
  mkdirSync(to, { recursive: true });
  const packages = readdirSync(installed).filter((name) => !/^\.|^(?:node|@plexus-cni|create-plexus-delegate)$/.test(name));
  // npm unpacks a package anew whose programs are not in .bin.
  const from = [...packages, ".bin"].map((name) => join(installed, name));
  try {
    execFileSync("cp", ["-al", "--", ...from, to], { stdio: "pipe" });
  } catch {
    // Another file system has no hard links to the tree.
    rmSync(to, { recursive: true });
    mkdirSync(to);
    execFileSync("cp", ["-a", "--", ...from, to]);
  }
  for (const name of readdirSync(join(to, ".bin"))) if (!existsSync(join(to, ".bin", name))) rmSync(join(to, ".bin", name));
}
