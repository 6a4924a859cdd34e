// Finds or builds helm. HELM names a ready binary. Without it helm is built once from its Go module into the user's cache directory.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

import { testCache } from "../debian-packages.ts";
import type { Requirement } from "../requires.ts";
import { hasGo, runGo } from "./go-command.ts";

/** The release to build, whose Kubernetes modules are those of the tests' release. Go checks it against its checksum database. */
const release = "v3.21.4";
const kubernetesMinor = 36;
const built = join(testCache, `helm-${release}-${process.arch}`);

/** The path of helm, or undefined if absent. */
export function helmBinary(): string | undefined {
  const configured = process.env["HELM"];
  if (configured !== undefined && configured !== "") return configured;
  return existsSync(built) ? built : undefined;
}

/** Requires helm: `describe.skipIf(missing("...", helm))`. */
export const helm: Requirement = () => {
  const path = helmBinary();
  if (path === undefined) return "no helm: set HELM, or build it once: node test/lab/kube/build.ts";
  return spawnSync(path, ["version"], { stdio: "ignore" }).status === 0 ? undefined : `${path} cannot be executed`;
};

/** Builds helm into the cache if absent. Answers the reason of a failure, or undefined. */
export function buildHelm(): string | undefined {
  if (helmBinary() !== undefined) return undefined;
  if (!hasGo()) return "no go on PATH";
  mkdirSync(testCache, { recursive: true });
  const directory = mkdtempSync(join(testCache, "building-"));
  // `helm template` without a cluster tells charts this version of Kubernetes.
  const versions = ["pkg/lint/rules", "pkg/chartutil"].flatMap((name) => [
    `helm.sh/helm/v3/${name}.k8sVersionMajor=1`,
    `helm.sh/helm/v3/${name}.k8sVersionMinor=${kubernetesMinor}`,
  ]);
  const values = [`helm.sh/helm/v3/internal/version.version=${release}`, ...versions];
  const flags = `-ldflags=-s -w ${values.map((value) => `-X ${value}`).join(" ")}`;
  try {
    const failure = runGo({
      args: ["install", "-trimpath", flags, `helm.sh/helm/v3/cmd/helm@${release}`],
      timeoutMinutes: 30,
      env: { GOBIN: directory },
    });
    if (failure === undefined) renameSync(join(directory, "helm"), built);
    return failure;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
