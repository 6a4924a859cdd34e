// The newest reference plugins. test/lab/build-newer-plugins.ts builds them once from their Go module into the user's cache directory.
// CNI_PLUGINS_NEWER names a directory of built plugins instead.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { testCache } from "./debian-packages.ts";
import type { Requirement } from "./requires.ts";

/** The release to build. Go checks it against its checksum database; go.mod and go.sum are those of the module. */
export const newerRelease = "v1.9.1";
const module = "github.com/containernetworking/plugins/plugins";
const wanted: Readonly<Record<string, string>> = {
  bandwidth: "meta/bandwidth",
  bridge: "main/bridge",
  dhcp: "ipam/dhcp",
  dummy: "main/dummy",
  firewall: "meta/firewall",
  "host-device": "main/host-device",
  "host-local": "ipam/host-local",
  ipvlan: "main/ipvlan",
  loopback: "main/loopback",
  macvlan: "main/macvlan",
  portmap: "meta/portmap",
  ptp: "main/ptp",
  sbr: "meta/sbr",
  static: "ipam/static",
  tap: "main/tap",
  tuning: "meta/tuning",
  vlan: "main/vlan",
  vrf: "meta/vrf",
};
const built = join(testCache, `cni-plugins-${newerRelease}-${process.arch}`);

/** The directory of the newer plugins, or undefined if one of them is missing. */
export function newerPlugins(): string | undefined {
  const named = process.env["CNI_PLUGINS_NEWER"];
  const directory = named === undefined || named === "" ? built : named;
  return Object.keys(wanted).every((name) => existsSync(join(directory, name))) ? directory : undefined;
}

export const newer: Requirement = () =>
  newerPlugins() === undefined
    ? `no reference plugins ${newerRelease}: Go builds them before the tests, or CNI_PLUGINS_NEWER names their directory`
    : undefined;

/** Builds the newer plugins. Answers the reason of a failure, or undefined after a success. */
export function buildNewerPlugins(): string | undefined {
  if (spawnSync("go", ["version"], { stdio: "ignore" }).status !== 0) return "no go on PATH";
  mkdirSync(testCache, { recursive: true });
  const directory = mkdtempSync(join(testCache, "building-"));
  try {
    const absent = Object.entries(wanted).filter(([name]) => !existsSync(join(built, name)));
    const packages = absent.map(([, path]) => `${module}/${path}@${newerRelease}`);
    const ended = spawnSync("nice", ["go", "install", "-trimpath", "-ldflags=-s -w", ...packages], {
      env: { ...process.env, GOBIN: directory, GOTOOLCHAIN: "local", GOFLAGS: "", GOWORK: "off", CGO_ENABLED: "0" },
      encoding: "utf8",
      stdio: ["ignore", "ignore", "pipe"],
      maxBuffer: 64 << 20,
      timeout: 600_000,
    });
    if (ended.status !== 0) return `go install failed: ${(ended.stderr ?? "").trim().slice(-300)}`;
    // Another run may use the plugins that an earlier build left.
    mkdirSync(built, { recursive: true });
    for (const [name] of absent) renameSync(join(directory, name), join(built, name));
    return undefined;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
