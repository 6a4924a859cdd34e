// The IPAM plugin whereabouts: addresses are imported from it, and the benchmark compares pools of addresses with it. WHEREABOUTS names an existing
// binary. Without it the binary is built once from its Go module, pinned in go/, and kept in the user's cache directory.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

import { root } from "../compiled.ts";
import { testCache } from "../debian-packages.ts";
import { hasGo, runGo } from "../kube/go-command.ts";
import type { Requirement } from "../requires.ts";

const moduleDirectory = join(root, "test", "lab", "whereabouts", "go");
const buildPackage = "github.com/k8snetworkplumbingwg/whereabouts/cmd";
/** Minutes after which a build is stopped. */
const maxBuildMinutes = 20;

function cachedPath(): string {
  const hash = createHash("sha256").update(process.arch);
  for (const name of ["go.mod", "go.sum"]) hash.update(readFileSync(join(moduleDirectory, name)));
  return join(testCache, `whereabouts-${hash.digest("hex").slice(0, 16)}`);
}

/** The path of the plugin; undefined if it has not been built. */
export function whereaboutsBinary(): string | undefined {
  const { WHEREABOUTS: configured = "" } = process.env;
  if (configured !== "") return configured;
  return existsSync(cachedPath()) ? cachedPath() : undefined;
}

/** Requires the plugin. */
export const realWhereabouts: Requirement = () =>
  whereaboutsBinary() === undefined
    ? "no whereabouts: set WHEREABOUTS to its path, or run `npm test` where Go is on PATH, which builds it once"
    : undefined;

/** Builds the plugin into the cache. Answers the reason of a failure; undefined if the plugin exists. */
export function buildWhereabouts(): string | undefined {
  if (whereaboutsBinary() !== undefined) return undefined;
  if (!hasGo()) return "no go on PATH";
  mkdirSync(testCache, { recursive: true });
  const temporary = `${cachedPath()}.${process.pid}`;
  const failure = runGo({
    args: ["build", "-mod=readonly", "-trimpath", "-ldflags=-s -w", "-o", temporary, buildPackage],
    timeoutMinutes: maxBuildMinutes,
    directory: moduleDirectory,
  });
  if (failure === undefined) renameSync(temporary, cachedPath());
  else rmSync(temporary, { force: true });
  return failure;
}
