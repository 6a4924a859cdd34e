// Finds or builds the programs of Kubernetes and etcd. KUBE_APISERVER, KUBELET, … and ETCD name ready binaries. Without them etcd comes from
// PATH or from Debian's package, and the programs of Kubernetes are built once from their Go module, pinned in go/, into the user's cache
// directory.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";

import { root } from "../compiled.ts";
import { testCache, unpackPackages } from "../debian-packages.ts";
import type { Requirement } from "../requires.ts";
import { hasGo, runGo } from "./go-command.ts";

const moduleDirectory = join(root, "test", "lab", "kube", "go");
const release = /^require k8s\.io\/kubernetes (v\S+)/mu.exec(readFileSync(join(moduleDirectory, "go.mod"), "utf8"))?.[1] ?? "";
const versionPackage = "k8s.io/component-base/version";
const [major = "", minor = ""] = release.slice(1).split(".");
const version = [`gitVersion=${release}`, `gitMajor=${major}`, `gitMinor=${minor}`];
const linkerFlags = ["-s -w", ...version.map((each) => `-X ${versionPackage}.${each}`)].join(" ");
const buildArgs = ["build", "-trimpath", `-ldflags=${linkerFlags}`];

/** The programs that a cluster needs. All come from one Go module, so that one `go build` compiles what they share once. */
export const clusterPrograms = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kubectl"] as const;
export type KubeProgram = (typeof clusterPrograms)[number];

/** Timeouts in minutes of `go mod download` and `go build`. */
const downloadTimeoutMinutes = 10;
const buildTimeoutMinutes = 40;

/** The path of a built program, whether or not the file exists. Its name has a hash of the build's inputs. */
function cached(name: KubeProgram): string {
  const hash = createHash("sha256").update(buildArgs.join(" ")).update(process.arch);
  for (const file of ["go.mod", "go.sum"]) hash.update(readFileSync(join(moduleDirectory, file)));
  return join(testCache, `${name}-${hash.digest("hex").slice(0, 16)}`);
}

/** The environment variable that names a ready binary: KUBE_APISERVER, KUBELET, … */
const variableOf = (name: KubeProgram): string => name.toUpperCase().replaceAll("-", "_");

/** The path of a program, or undefined if absent. */
export function kubeProgram(name: KubeProgram): string | undefined {
  const configured = process.env[variableOf(name)];
  if (configured !== undefined && configured !== "") return configured;
  return existsSync(cached(name)) ? cached(name) : undefined;
}

/** The path of kube-apiserver, or undefined if absent. */
export const apiServerBinary = (): string | undefined => kubeProgram("kube-apiserver");
/** The path of kubectl of the tests' release, or undefined if absent. */
export const kubectlBinary = (): string | undefined => kubeProgram("kubectl");

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

/** Requires programs of Kubernetes. */
export function kubePrograms(...names: readonly KubeProgram[]): Requirement {
  return () => {
    const absent = names.filter((name) => kubeProgram(name) === undefined);
    const [first] = absent;
    if (first !== undefined)
      return `no ${absent.join(", ")}: set ${variableOf(first)}, or build it once: node test/lab/kube/build.ts`;
    const broken = names.find((name) => !isExecutable(kubeProgram(name) ?? ""));
    return broken === undefined ? undefined : `${variableOf(broken)} names ${kubeProgram(broken)}, which is not executable`;
  };
}

/** Requires everything that a real API server needs: `describe.skipIf(missing("...", kubeApi))`. */
export const kubeApi: Requirement = () => {
  const api = kubePrograms("kube-apiserver")();
  if (api !== undefined) return api;
  const etcd = etcdBinary();
  if (etcd === undefined) return "no etcd on PATH (Debian: apt-get install etcd-server), and ETCD is not set";
  if (!isExecutable(etcd)) return `ETCD names ${etcd}, which is not executable`;
  return openssl();
};

/** Makes certificates. */
export const openssl: Requirement = () =>
  spawnSync("openssl", ["version"], { stdio: "ignore" }).status === 0 ? undefined : "no openssl on PATH";

/** Builds the absent ones of these programs into the cache, with one `go build`. Answers the reason of a failure, or undefined. */
export function buildKube(names: readonly KubeProgram[]): string | undefined {
  const absent = names.filter((name) => kubeProgram(name) === undefined);
  if (absent.length === 0) return undefined;
  if (!hasGo()) return "no go on PATH";
  mkdirSync(testCache, { recursive: true });
  const unfinished = mkdtempSync(join(testCache, "building-"));
  const packages = absent.map((name) => `k8s.io/kubernetes/cmd/${name}`);
  const inModule = { directory: moduleDirectory, env: { GOFLAGS: "-mod=readonly" } };
  try {
    const failure =
      runGo({ ...inModule, timeoutMinutes: downloadTimeoutMinutes, args: ["mod", "download"] }) ??
      runGo({ ...inModule, timeoutMinutes: buildTimeoutMinutes, args: [...buildArgs, "-o", `${unfinished}/`, ...packages] });
    if (failure === undefined) for (const name of absent) renameSync(join(unfinished, name), cached(name));
    return failure;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
