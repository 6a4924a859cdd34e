// Where kube-apiserver and etcd come from. KUBE_APISERVER and ETCD name ready binaries; otherwise etcd is taken from PATH, and
// kube-apiserver is built once from its Go module, pinned in go/, and kept in the user's cache directory.

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

/** Minutes after which getting the modules, and building, is given up. */
const longestDownloadMinutes = 10;
const longestBuildMinutes = 40;

/** Where the built kube-apiserver is, or will be: named after what goes into it, outside of the repository. */
export function cachedApiServer(): string {
  const hash = createHash("sha256").update(buildArgs.join(" ")).update(process.arch);
  for (const name of ["go.mod", "go.sum"]) hash.update(readFileSync(join(moduleDirectory, name)));
  return join(testCache, `kube-apiserver-${hash.digest("hex").slice(0, 16)}`);
}

/** The path of kube-apiserver; undefined where there is none yet. */
export function apiServerBinary(): string | undefined {
  const given = process.env["KUBE_APISERVER"];
  if (given !== undefined && given !== "") return given;
  return existsSync(cachedApiServer()) ? cachedApiServer() : undefined;
}

const unpackedEtcd = join(testCache, "debian-etcd");

/** Unpacks Debian's etcd where there is none and apt-get knows it. Answers why not, or undefined. */
export function unpackEtcd(): string | undefined {
  return etcdBinary() === undefined ? unpackPackages(["etcd-server"], unpackedEtcd) : undefined;
}

/** The path of etcd; undefined where there is none. */
export function etcdBinary(): string | undefined {
  const given = process.env["ETCD"];
  if (given !== undefined && given !== "") return given;
  const directories = [...(process.env["PATH"] ?? "").split(delimiter), join(unpackedEtcd, "usr", "bin")];
  return directories.map((directory) => join(directory, "etcd")).find((path) => isExecutable(path));
}

/** A real API server can be started here: `describe.skipIf(missing("...", kubeApi))`. */
export const kubeApi: Requirement = () => {
  const api = apiServerBinary();
  if (api === undefined) return "no kube-apiserver: set KUBE_APISERVER, or build it once: node test/harness/kube/build.ts";
  if (!isExecutable(api)) return `KUBE_APISERVER names ${api}, which is not executable`;
  const etcd = etcdBinary();
  if (etcd === undefined) return "no etcd on PATH (Debian: apt-get install etcd-server), and ETCD is not set";
  if (!isExecutable(etcd)) return `ETCD names ${etcd}, which is not executable`;
  return spawnSync("openssl", ["version"], { stdio: "ignore" }).status === 0 ? undefined : "no openssl on PATH";
};

/** Builds kube-apiserver into the cache. Answers why that was not possible, or undefined where it is there now. */
export function buildApiServer(): string | undefined {
  const output = cachedApiServer();
  if (existsSync(output)) return undefined;
  if (spawnSync("go", ["version"], { stdio: "ignore" }).status !== 0) return "no go on PATH";
  mkdirSync(join(output, ".."), { recursive: true });
  const own = `${output}.${process.pid}`;
  const failure =
    runGo(longestDownloadMinutes, ["mod", "download"]) ?? runGo(longestBuildMinutes, [...buildArgs, "-o", own, buildPackage]);
  if (failure === undefined) renameSync(own, output);
  else rmSync(own, { force: true });
  return failure;
}

/** Runs Go in the module; answers why it failed. Its own children end with it, because `timeout` signals the whole group. */
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
  const what = `go ${args[0]}${args[1] === "download" ? " download" : ""}`;
  return ran.status === 124 ? `${what} took longer than ${minutes} minutes` : `${what} failed: ${lastWords(ran.stderr ?? "")}`;
}

/** The end says what went wrong; before it Go lists what it downloads. */
function lastWords(text: string): string {
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
