// Multus itself, thin, as what pods were attached by: MULTUS names a ready binary; otherwise it is built once from its Go module,
// pinned in go/, and kept in the user's cache directory.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

import { root } from "../../harness/compiled.ts";
import type { Requirement } from "../../harness/requires.ts";

const moduleDirectory = join(root, "test", "conformance", "multus", "go");
const buildPackage = "gopkg.in/k8snetworkplumbingwg/multus-cni.v4/cmd/multus";

/** Minutes after which a build is given up. */
const longestBuildMinutes = 20;

function cached(): string {
  const hash = createHash("sha256").update(process.arch);
  for (const name of ["go.mod", "go.sum"]) hash.update(readFileSync(join(moduleDirectory, name)));
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  return join(cache, "plexus", `multus-${hash.digest("hex").slice(0, 16)}`);
}

/** The path of Multus; undefined where there is none yet. */
export function multusBinary(): string | undefined {
  const given = process.env["MULTUS"];
  if (given !== undefined && given !== "") return given;
  return existsSync(cached()) ? cached() : undefined;
}

/** Multus can be run here. */
export const realMultus: Requirement = () =>
  multusBinary() === undefined
    ? "no Multus: set MULTUS, or have it built once: PLEXUS_BUILD_MULTUS=1 (2 minutes of two cores)"
    : undefined;

/** Builds Multus into the cache. Answers why that was not possible, or undefined where it is there now. */
export function buildMultus(): string | undefined {
  const output = cached();
  if (spawnSync("go", ["version"], { stdio: "ignore" }).status !== 0) return "no go on PATH";
  mkdirSync(join(output, ".."), { recursive: true });
  const own = `${output}.${process.pid}`;
  const command = ["-k", "10", `${longestBuildMinutes}m`, "nice", "go", "build", "-ldflags=-s -w", "-o", own, buildPackage];
  const env = { ...process.env, GOTOOLCHAIN: "local", GOFLAGS: "-mod=readonly", GOWORK: "off", CGO_ENABLED: "0" };
  const built = spawnSync("timeout", command, {
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
  return `go build failed (its module must be fetched once): ${(built.stderr ?? "").slice(-300)}`;
}
