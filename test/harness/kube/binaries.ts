// Finds or builds kube-apiserver and etcd. KUBE_APISERVER and ETCD name ready binaries. Without them etcd comes from PATH or from Debian's
// package, and kube-apiserver is built once from its Go module, pinned in go/, into the user's cache directory.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";

import { root } from "../compiled.ts";
import { testCache, unpackPackages } from "../debian-packages.ts";
import type { Requirement } from "../requires.ts";

const moduleDirectory = join(root, "test", "harness", "kube", "go");
const release = /^require k8s\.io\/kubernetes (v\S+)/mu.exec(readFileSync(join(moduleDirectory, "go.mod"), "utf8"))?.[1] ?? "";
const buildArgs = ["build", "-trimpath", `-ldflags=-s -w -X k8s.io/component-base/version.gitVersion=${release}`];
const buildPackage = "k8s.io/kubernetes/cmd/kube-apiserver";

/** Timeouts in minutes of `go mod download` and `go build`. */
const downloadTimeoutMinutes = 10;
const buildTimeoutMinutes = 40;

/** The path of the built kube-apiserver, whether or not the file exists. Its name has a hash of the build's inputs. */
export function cachedApiServer(): string {
  const hash = createHash("sha256").update(buildArgs.join(" ")).update(process.arch);
  for (const name of ["go.mod", "go.sum"]) hash.update(readFileSync(join(moduleDirectory, name)));
  return join(testCache, `kube-apiserver-${hash.digest("hex").slice(0, 16)}`);
}

/** The path of kube-apiserver, or undefined if absent. */
export function apiServerBinary(): string | undefined {
  const configured = process.env["KUBE_APISERVER"];
  if (configured !== undefined && configured !== "") return configured;
  return existsSync(cachedApiServer()) ? cachedApiServer() : undefined;
}

const unpackedEtcd = join(testCache, "debian-etcd");

/** Unpacks Debian's etcd if etcd is absent. Answers the reason of a failure, or undefined. */
export function unpackEtcd(): string | undefined {
  return etcdBinary() === undefined ? unpackPackages(["etcd-server"], unpackedEtcd) : undefined;
}

/** The path of etcd, or undefined if absent. */
export function etcdBinary(): string | undefined {
  const configured = process.env["ETCD"];
  if (configured !== undefined && configured !== "") return configured;
  const directories = [...(process.env["PATH"] ?? "").split(delimiter), join(unpackedEtcd, "usr", "bin")];
  return directories.map((directory) => join(directory, "etcd")).find((path) => isExecutable(path));
}

/** Requires everything that a real API server needs: `describe.skipIf(missing("...", kubeApi))`. */
export const kubeApi: Requirement = () => {
  const api = apiServerBinary();
  if (api === undefined) return "no kube-apiserver: set KUBE_APISERVER, or build it once: node test/harness/kube/build.ts";
  if (!isExecutable(api)) return `KUBE_APISERVER names ${api}, which is not executable`;
  const etcd = etcdBinary();
  if (etcd === undefined) return "no etcd on PATH (Debian: apt-get install etcd-server), and ETCD is not set";
  if (!isExecutable(etcd)) return `ETCD names ${etcd}, which is not executable`;
  return spawnSync("openssl", ["version"], { stdio: "ignore" }).status === 0 ? undefined : "no openssl on PATH";
};

/** Builds kube-apiserver into the cache if absent. Answers the reason of a failure, or undefined. */
export function buildApiServer(): string | undefined {
  const output = cachedApiServer();
  if (existsSync(output)) return undefined;
  if (spawnSync("go", ["version"], { stdio: "ignore" }).status !== 0) return "no go on PATH";
  mkdirSync(join(output, ".."), { recursive: true });
  const unfinished = `${output}.${process.pid}`;
  const failure =
    runGo(downloadTimeoutMinutes, ["mod", "download"]) ??
    runGo(buildTimeoutMinutes, [...buildArgs, "-o", unfinished, buildPackage]);
  if (failure === undefined) renameSync(unfinished, output);
  else rmSync(unfinished, { force: true });
  return failure;
}

/** Runs Go in the module and answers the reason of a failure. Go's children end with Go, because `timeout` signals the whole group. */
function runGo(minutes: number, args: readonly string[]): string | undefined {
  const env = { ...process.env, GOTOOLCHAIN: "local", GOFLAGS: "-mod=readonly", GOWORK: "off", CGO_ENABLED: "0" };
  const ran = spawnSync("timeout", ["-k", "10", `${minutes}m`, "nice", "go", ...args], {
    cwd: moduleDirectory,
    env,
    encoding: "utf8",
    stdio: ["ignore", "ignore", "pipe"],
    maxBuffer: 64 << 20,
  });
  if (ran.status === 0) return undefined;
  const command = `go ${args[0]}${args[1] === "download" ? " download" : ""}`;
  return ran.status === 124
    ? `${command} took longer than ${minutes} minutes`
    : `${command} failed: ${lastLines(ran.stderr ?? "")}`;
}

/** The last lines of Go's stderr, which have the error. Go lists its downloads before them. */
function lastLines(text: string): string {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("go: downloading"));
  return lines.slice(-3).join(" ").slice(-300);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
