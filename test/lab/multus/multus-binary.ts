// The binaries of Multus. The tests of switching to Plexus attach pods with thin Multus; the benchmark compares Plexus with
// thin Multus and with thick Multus (a shim and a daemon). MULTUS, MULTUS_SHIM and MULTUS_DAEMON name existing binaries.
// Without them the binaries are built once from Multus' Go module, pinned in go/, and kept in the user's cache directory.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

import { root } from "../compiled.ts";
import type { Requirement } from "../requires.ts";

export const multusPrograms = ["multus", "multus-shim", "multus-daemon"] as const;
export type MultusProgram = (typeof multusPrograms)[number];

const moduleDirectory = join(root, "test", "lab", "multus", "go");
const buildPackages = "gopkg.in/k8snetworkplumbingwg/multus-cni.v4/cmd";

/** The release that go/ pins, as `v4.3.0`. */
export const multusRelease =
  /^require gopkg\.in\/k8snetworkplumbingwg\/multus-cni\.v4 (v\S+)/mu.exec(
    readFileSync(join(moduleDirectory, "go.mod"), "utf8"),
  )?.[1] ?? "";

/** Minutes after which a build is stopped. */
const maxBuildMinutes = 20;

function cachedPath(program: MultusProgram): string {
  const hash = createHash("sha256").update(process.arch);
  for (const name of ["go.mod", "go.sum"]) hash.update(readFileSync(join(moduleDirectory, name)));
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  return join(cache, "plexus", `${program}-${hash.digest("hex").slice(0, 16)}`);
}

/** The path of a program of Multus; undefined if it has not been built. */
export function multusBinary(program: MultusProgram = "multus"): string | undefined {
  const fromEnvironment = process.env[program.toUpperCase().replace("-", "_")];
  if (fromEnvironment !== undefined && fromEnvironment !== "") return fromEnvironment;
  return existsSync(cachedPath(program)) ? cachedPath(program) : undefined;
}

/** Requires thin Multus. */
export const realMultus: Requirement = () =>
  multusBinary() === undefined
    ? "no Multus: set MULTUS to its path, or PLEXUS_BUILD_MULTUS=1 to build it once (2 minutes on two cores)"
    : undefined;

/** Requires thin and thick Multus. */
export const everyMultus: Requirement = () => {
  const missing = multusPrograms.filter((program) => multusBinary(program) === undefined);
  return missing.length === 0
    ? undefined
    : `no ${missing.join(", ")}: set PLEXUS_BUILD_MULTUS=1 to build them once where Go is on PATH (2 minutes on two cores)`;
};

/** Builds programs of Multus into the cache. Returns the reason of a failure, or undefined if all programs exist. */
export function buildMultus(programs: readonly MultusProgram[]): string | undefined {
  if (spawnSync("go", ["version"], { stdio: "ignore" }).status !== 0) return "no go on PATH";
  for (const program of programs) {
    const failure = multusBinary(program) === undefined ? buildOne(program) : undefined;
    if (failure !== undefined) return failure;
  }
  return undefined;
}

function buildOne(program: MultusProgram): string | undefined {
  const output = cachedPath(program);
  mkdirSync(join(output, ".."), { recursive: true });
  const temporary = `${output}.${process.pid}`;
  const go = ["nice", "go", "build", "-ldflags=-s -w", "-o", temporary, `${buildPackages}/${program}`];
  const env = { ...process.env, GOTOOLCHAIN: "local", GOFLAGS: "-mod=readonly", GOWORK: "off", CGO_ENABLED: "0" };
  const built = spawnSync("timeout", ["-k", "10", `${maxBuildMinutes}m`, ...go], {
    cwd: moduleDirectory,
    env,
    encoding: "utf8",
    stdio: ["ignore", "ignore", "pipe"],
    maxBuffer: 64 << 20,
  });
  if (built.status === 0) {
    renameSync(temporary, output);
    return undefined;
  }
  rmSync(temporary, { force: true });
  return `go build of ${program} failed (Go must be able to fetch its module once): ${(built.stderr ?? "").slice(-300)}`;
}
