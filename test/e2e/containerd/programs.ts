// Where containerd and runc come from. Debian's packages are taken from PATH, or else unpacked into the user's cache directory
// (nothing is installed: the package would start a daemon of the machine's own, and take docker's place). A newer containerd, which calls
// STATUS, is built once from its Go module; CONTAINERD names a ready one instead.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";

import { testCache, unpackPackages } from "../../harness/debian-packages.ts";
import type { Requirement } from "../../harness/requires.ts";

/** The release that is built. Its checksum is Go's checksum database's; go.mod and go.sum are the module's own. */
const release = "v2.2.9";

const unpacked = join(testCache, "debian-containerd");
const builtDirectory = join(testCache, `containerd-${release}-${process.arch}`);
const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** PATH for containerd: where its shim and runc are found. */
export const programPath = [systemPath, join(unpacked, "usr", "bin"), join(unpacked, "usr", "sbin")].join(delimiter);

/** What a sandbox takes: the packages' programs, one of each. */
const packaged = ["containerd", "containerd-shim-runc-v2", "ctr", "runc"] as const;

/** A program's path, or undefined. */
export function program(name: (typeof packaged)[number]): string | undefined {
  return programPath
    .split(delimiter)
    .map((directory) => join(directory, name))
    .find((path) => existsSync(path));
}

/** The newer containerd, or undefined. */
export function newerContainerd(): string | undefined {
  const given = process.env["CONTAINERD"];
  if (given !== undefined && given !== "") return given;
  const path = join(builtDirectory, "containerd");
  return existsSync(path) ? path : undefined;
}

/** Containers can be run here: the programs are there, and cgroups can be made. */
export const containers: Requirement = () => {
  const absent = packaged.filter((name) => program(name) === undefined);
  if (absent.length > 0)
    return `no ${absent.join(", ")}: install containerd and runc, or, on Debian, run test/e2e/containerd/get.ts`;
  // A user namespace's root may neither make cgroups nor mount what runc mounts.
  const tried = spawnSync("unshare", [
    "--pid",
    "--fork",
    "--mount",
    "--mount-proc",
    "--propagation",
    "private",
    "sh",
    "-c",
    trial,
  ]);
  return tried.status === 0 ? undefined : `no container can be run here: ${String(tried.stderr).trim().slice(-200)}`;
};

const trial = `
set -e
grep -q '^ *0 *0 *4294967295' /proc/self/uid_map || { echo "not root outside of user namespaces" >&2; exit 1; }
for hierarchy in /sys/fs/cgroup/*/cgroup.procs /sys/fs/cgroup/cgroup.procs; do
  [ -e "$hierarchy" ] || continue
  directory=$(dirname "$hierarchy")/plexus-test-trial-$(cat /proc/sys/kernel/random/uuid)
  mkdir "$directory" && rmdir "$directory"
  tried=yes
done
[ -n "$tried" ] || { echo "no cgroups below /sys/fs/cgroup" >&2; exit 1; }
`;

export const newer: Requirement = () =>
  newerContainerd() === undefined
    ? "no newer containerd: set CONTAINERD, or have it built once: PLEXUS_BUILD_CONTAINERD=1 (3 minutes of two cores)"
    : undefined;

/** Unpacks Debian's packages where programs are missing and apt-get knows them. Answers why not, or undefined. */
export function unpackContainers(): string | undefined {
  const there = packaged.every((name) => program(name) !== undefined);
  return there ? undefined : unpackPackages(["containerd", "runc"], unpacked);
}

/** Minutes after which a build is given up. */
const longestBuildMinutes = 20;

/** Builds the newer containerd. Answers why that was not possible, or undefined where it is there now. */
export function buildNewer(): string | undefined {
  if (newerContainerd() !== undefined) return undefined;
  if (spawnSync("go", ["version"], { stdio: "ignore" }).status !== 0) return "no go on PATH";
  mkdirSync(testCache, { recursive: true });
  const directory = mkdtempSync(join(testCache, "building-"));
  const without = ["btrfs", "zfs", "devmapper", "aufs", "tracing"].map((name) => `no_${name}`).join(",");
  const install = ["install", "-trimpath", "-tags", without, "-ldflags=-s -w"];
  const module = `github.com/containerd/containerd/v2/cmd/containerd@${release}`;
  try {
    const built = spawnSync("timeout", ["-k", "10", `${longestBuildMinutes}m`, "nice", "go", ...install, module], {
      env: { ...process.env, GOBIN: directory, GOTOOLCHAIN: "local", GOFLAGS: "", GOWORK: "off", CGO_ENABLED: "0" },
      encoding: "utf8",
      stdio: ["ignore", "ignore", "pipe"],
      maxBuffer: 64 << 20,
    });
    if (built.status !== 0)
      return `go install failed: ${(built.stderr ?? "").trim().split("\n").slice(-3).join(" ").slice(-300)}`;
    rmSync(builtDirectory, { recursive: true, force: true });
    renameSync(directory, builtDirectory);
    return undefined;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
