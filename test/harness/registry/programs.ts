// Finds or gets the OCI programs of tests: Debian's docker-registry, unpacked, and oras, crane and cosign, built once from their Go
// modules. The variables DOCKER_REGISTRY, ORAS, CRANE and COSIGN name ready binaries.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";

import { testCache, unpackPackages } from "../debian-packages.ts";
import { hasGo, runGo } from "../kube/go-command.ts";
import type { Requirement } from "../requires.ts";

const unpackedRegistry = join(testCache, "debian-docker-registry");

/** Go checks the releases against its checksum database. */
const goPrograms = {
  oras: { package: "oras.land/oras/cmd/oras", release: "v1.3.6", variable: "ORAS" },
  /** `crane registry serve` is a registry with the referrers API. */
  crane: { package: "github.com/google/go-containerregistry/cmd/crane", release: "v0.22.1", variable: "CRANE" },
  /** The build compiles some 1500 packages, which takes 4 minutes of one CPU and more. */
  cosign: { package: "github.com/sigstore/cosign/v3/cmd/cosign", release: "v3.1.3", variable: "COSIGN" },
} as const;

/** The programs that are built with Go. */
export type GoProgram = keyof typeof goPrograms;

function cached(name: GoProgram): string {
  return join(testCache, `${name}-${goPrograms[name].release}-${process.arch}`);
}

/** The path of the program, or undefined if absent. */
export function goProgram(name: GoProgram): string | undefined {
  const configured = process.env[goPrograms[name].variable];
  if (configured !== undefined && configured !== "") return configured;
  return existsSync(cached(name)) ? cached(name) : undefined;
}

/** Builds the program into the cache if absent. Answers the reason of a failure, or undefined. */
export function buildGoProgram(name: GoProgram): string | undefined {
  if (goProgram(name) !== undefined) return undefined;
  if (!hasGo()) return "no go on PATH";
  mkdirSync(testCache, { recursive: true });
  const directory = mkdtempSync(join(testCache, "building-"));
  const { package: path, release } = goPrograms[name];
  try {
    const failure = runGo({
      args: ["install", "-trimpath", "-ldflags=-s -w", `${path}@${release}`],
      timeoutMinutes: 30,
      env: { GOBIN: directory },
    });
    if (failure === undefined) renameSync(join(directory, name), cached(name));
    return failure;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The path of docker-registry, or undefined if absent. */
export function registryProgram(): string | undefined {
  const configured = process.env["DOCKER_REGISTRY"];
  if (configured !== undefined && configured !== "") return configured;
  const directories = [...(process.env["PATH"] ?? "").split(delimiter), join(unpackedRegistry, "usr", "bin")];
  return directories.map((directory) => join(directory, "docker-registry")).find((path) => existsSync(path));
}

/** Unpacks Debian's docker-registry if absent. Answers the reason of a failure, or undefined. */
export function unpackRegistry(): string | undefined {
  return registryProgram() === undefined ? unpackPackages(["docker-registry"], unpackedRegistry) : undefined;
}

/** Requires docker-registry, and openssl for its certificates. */
export const dockerRegistry: Requirement = () => {
  if (registryProgram() === undefined)
    return "no docker-registry: set DOCKER_REGISTRY, or get it once: node test/harness/registry/get.ts";
  return spawnSync("openssl", ["version"], { stdio: "ignore" }).status === 0 ? undefined : "no openssl on PATH";
};

/** Requires a program that is built with Go. */
export function goBuilt(name: GoProgram): Requirement {
  return () =>
    goProgram(name) === undefined
      ? `no ${name}: set ${goPrograms[name].variable}, or build it once: node test/harness/registry/get.ts ${name}`
      : undefined;
}
