// Finds or gets the OCI programs of tests: Debian's docker-registry, unpacked; oras, crane and cosign, built once from their Go modules; and wkg,
// built once from its crate. The variables DOCKER_REGISTRY, ORAS, CRANE, COSIGN and WKG name ready binaries.

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
    return "no docker-registry: set DOCKER_REGISTRY, or get it once: node test/lab/registry/get.ts";
  return spawnSync("openssl", ["version"], { stdio: "ignore" }).status === 0 ? undefined : "no openssl on PATH";
};

/** Requires a program that is built with Go. */
export function goBuilt(name: GoProgram): Requirement {
  return () =>
    goProgram(name) === undefined
      ? `no ${name}: set ${goPrograms[name].variable}, or build it once: node test/lab/registry/get.ts ${name}`
      : undefined;
}

/** The Bytecode Alliance's client for components in registries. Its build takes 9 minutes of one CPU. */
const wkgRelease = "0.16.1";
const cachedWkg = join(testCache, `wkg-${wkgRelease}-${process.arch}`);
const wkgMinutes = 40;

/** The path of wkg, or undefined if absent. */
export function wkgProgram(): string | undefined {
  const configured = process.env["WKG"];
  if (configured !== undefined && configured !== "") return configured;
  return existsSync(cachedWkg) ? cachedWkg : undefined;
}

/** Builds wkg into the cache if absent. Answers the reason of a failure, or undefined. */
export function buildWkg(): string | undefined {
  if (wkgProgram() !== undefined) return undefined;
  if (spawnSync("cargo", ["--version"], { stdio: "ignore" }).status !== 0) return "no cargo on PATH";
  mkdirSync(testCache, { recursive: true });
  const directory = mkdtempSync(join(testCache, "building-"));
  try {
    const args = ["install", "wkg", "--locked", "--version", wkgRelease, "--root", directory];
    const ran = spawnSync("timeout", ["-k", "10", `${wkgMinutes}m`, "nice", "cargo", ...args], {
      env: { ...process.env, CARGO_TARGET_DIR: join(directory, "target") },
      encoding: "utf8",
      stdio: ["ignore", "ignore", "pipe"],
      maxBuffer: 64 << 20,
    });
    if (ran.status !== 0) return `cargo install wkg failed: ${ran.stderr.trim().slice(-300)}`;
    renameSync(join(directory, "bin", "wkg"), cachedWkg);
    return undefined;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Requires wkg. */
export const wkg: Requirement = () =>
  wkgProgram() === undefined ? "no wkg: set WKG, or build it once: node test/lab/registry/get.ts wkg" : undefined;
