// Finds or builds containerd and runc. Programs of PATH are used, otherwise Debian's packages are unpacked into the user's cache directory.
// The packages are not installed, because that would start a daemon on the machine and replace docker's containerd. A newer containerd,
// which calls STATUS, is built once from its Go module; CONTAINERD names a built one instead.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";

import { testCache, unpackPackages } from "../debian-packages.ts";
import type { Requirement } from "../requires.ts";

/** The release to build. Go checks it against its checksum database; go.mod and go.sum are those of the module. */
const release = "v2.2.9";

const unpacked = join(testCache, "debian-containerd");
const builtDirectory = join(testCache, `containerd-${release}-${process.arch}`);
const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** PATH of containerd, which has its shim and runc. */
export const programPath = [systemPath, join(unpacked, "usr", "bin"), join(unpacked, "usr", "sbin")].join(delimiter);

/** The packages' programs that a sandbox needs. */
const packaged = ["containerd", "containerd-shim-runc-v2", "ctr", "runc"] as const;

/** A program's path, or undefined. */
export function program(name: (typeof packaged)[number]): string | undefined {
  return programPath
    .split(delimiter)
    .map((directory) => join(directory, name))
    .find((path) => existsSync(path));
}

/** The path of the newer containerd, or undefined. */
export function newerContainerd(): string | undefined {
  const configured = process.env["CONTAINERD"];
  if (configured !== undefined && configured !== "") return configured;
  const path = join(builtDirectory, "containerd");
  return existsSync(path) ? path : undefined;
}

/** Requires the programs and the permission to make cgroups. */
export const containers: Requirement = () => {
  const absent = packaged.filter((name) => program(name) === undefined);
  if (absent.length > 0)
    return `no ${absent.join(", ")}: install containerd and runc, or, on Debian, run test/lab/containerd/get.ts`;
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
  return tried.status === 0 ? undefined : `this process cannot run containers: ${String(tried.stderr).trim().slice(-200)}`;
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
    ? "no newer containerd: set CONTAINERD, or PLEXUS_BUILD_CONTAINERD=1 to build it once (3 minutes of two cores)"
    : undefined;

/** Unpacks Debian's packages if programs are missing. Answers the reason of a failure, or undefined. */
export function unpackContainers(): string | undefined {
  const complete = packaged.every((name) => program(name) !== undefined);
  return complete ? undefined : unpackPackages(["containerd", "runc"], unpacked);
}

/** The timeout of the build in minutes. */
const buildTimeoutMinutes = 20;

/** Builds the newer containerd if absent. Answers the reason of a failure, or undefined. */
export function buildNewer(): string | undefined {
  if (newerContainerd() !== undefined) return undefined;
  if (spawnSync("go", ["version"], { stdio: "ignore" }).status !== 0) return "no go on PATH";
  mkdirSync(testCache, { recursive: true });
  const directory = mkdtempSync(join(testCache, "building-"));
  const without = ["btrfs", "zfs", "devmapper", "aufs", "tracing"].map((name) => `no_${name}`).join(",");
  const install = ["install", "-trimpath", "-tags", without, "-ldflags=-s -w"];
  const module = `github.com/containerd/containerd/v2/cmd/containerd@${release}`;
  try {
    const built = spawnSync("timeout", ["-k", "10", `${buildTimeoutMinutes}m`, "nice", "go", ...install, module], {
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
