// Multus itself: thin, as what pods were attached by, and thick (a shim and a daemon), to be compared with. MULTUS, MULTUS_SHIM and
// MULTUS_DAEMON name ready binaries; otherwise they are built once from Multus' Go module, pinned in go/, and kept in the user's cache
// directory.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

import { root } from "../../harness/compiled.ts";
import type { Requirement } from "../../harness/requires.ts";

export const multusPrograms = ["multus", "multus-shim", "multus-daemon"] as const;
export type MultusProgram = (typeof multusPrograms)[number];

const moduleDirectory = join(root, "test", "conformance", "multus", "go");
const buildPackages = "gopkg.in/k8snetworkplumbingwg/multus-cni.v4/cmd";

/** The release that go/ pins, as `v4.3.0`. */
export const multusRelease =
  /^require gopkg\.in\/k8snetworkplumbingwg\/multus-cni\.v4 (v\S+)/mu.exec(
    readFileSync(join(moduleDirectory, "go.mod"), "utf8"),
  )?.[1] ?? "";

/** Minutes after which a build is given up. */
const longestBuildMinutes = 20;

function cached(program: MultusProgram): string {
  const hash = createHash("sha256").update(process.arch);
  for (const name of ["go.mod", "go.sum"]) hash.update(readFileSync(join(moduleDirectory, name)));
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  return join(cache, "plexus", `${program}-${hash.digest("hex").slice(0, 16)}`);
}

/** The path of a program of Multus; undefined where there is none yet. */
export function multusBinary(program: MultusProgram = "multus"): string | undefined {
  const given = process.env[program.toUpperCase().replace("-", "_")];
  if (given !== undefined && given !== "") return given;
  return existsSync(cached(program)) ? cached(program) : undefined;
}

/** Thin Multus can be run here. */
export const realMultus: Requirement = () =>
  multusBinary() === undefined
    ? "no Multus: set MULTUS, or have it built once: PLEXUS_BUILD_MULTUS=1 (2 minutes of two cores)"
    : undefined;

/** Thin and thick Multus can be run here. */
export const everyMultus: Requirement = () => {
  const absent = multusPrograms.filter((program) => multusBinary(program) === undefined);
  return absent.length === 0 ? undefined : `no ${absent.join(", ")}: \`npm run bench\` builds them once where Go is on PATH`;
};

/** Builds programs of Multus into the cache. Answers why that was not possible, or undefined where they are there now. */
export function buildMultus(programs: readonly MultusProgram[]): string | undefined {
  if (spawnSync("go", ["version"], { stdio: "ignore" }).status !== 0) return "no go on PATH";
  for (const program of programs) {
    const failure = multusBinary(program) === undefined ? buildOne(program) : undefined;
    if (failure !== undefined) return failure;
  }
  return undefined;
}

function buildOne(program: MultusProgram): string | undefined {
  const output = cached(program);
  mkdirSync(join(output, ".."), { recursive: true });
  const own = `${output}.${process.pid}`;
  const go = ["nice", "go", "build", "-ldflags=-s -w", "-o", own, `${buildPackages}/${program}`];
  const env = { ...process.env, GOTOOLCHAIN: "local", GOFLAGS: "-mod=readonly", GOWORK: "off", CGO_ENABLED: "0" };
  const built = spawnSync("timeout", ["-k", "10", `${longestBuildMinutes}m`, ...go], {
    cwd: moduleDirectory,
    env,
    encoding: "utf8",
    stdio: ["ignore", "ignore", "pipe"],
    maxBuffer: 64 << 20,
  });
  if (built.status === 0) {
    renameSync(own, output);
    return undefined;
  }
  rmSync(own, { force: true });
  return `go build of ${program} failed (its module must be fetched once): ${(built.stderr ?? "").slice(-300)}`;
}
