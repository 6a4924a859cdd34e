// The reference plugins of a newer release than the distribution's, built once from their Go module into the user's cache directory:
// `PLEXUS_BUILD_PLUGINS=1` builds them (half a minute of one core), CNI_PLUGINS_NEWER names a directory of ready ones.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { testCache } from "./debian-packages.ts";
import type { Requirement } from "./requires.ts";

/** The release that is built. Its checksum is Go's checksum database's; go.mod and go.sum are the module's own. */
const release = "v1.9.1";
const module = "github.com/containernetworking/plugins/plugins";
const wanted: Readonly<Record<string, string>> = {
  bridge: "main/bridge",
  macvlan: "main/macvlan",
  loopback: "main/loopback",
  "host-local": "ipam/host-local",
  static: "ipam/static",
  tuning: "meta/tuning",
};
const built = join(testCache, `cni-plugins-${release}-${process.arch}`);

/** The directory of the newer plugins, or undefined. */
export function newerPlugins(): string | undefined {
  const given = process.env["CNI_PLUGINS_NEWER"];
  if (given !== undefined && given !== "") return given;
  if (!existsSync(built) && process.env["PLEXUS_BUILD_PLUGINS"] === "1") build();
  return existsSync(built) ? built : undefined;
}

export const newer: Requirement = () =>
  newerPlugins() === undefined
    ? `no reference plugins ${release}: have them built once (PLEXUS_BUILD_PLUGINS=1), or name their directory (CNI_PLUGINS_NEWER)`
    : undefined;

function build(): void {
  mkdirSync(testCache, { recursive: true });
  const directory = mkdtempSync(join(testCache, "building-"));
  try {
    const packages = Object.values(wanted).map((path) => `${module}/${path}@${release}`);
    const ended = spawnSync("nice", ["go", "install", "-trimpath", "-ldflags=-s -w", ...packages], {
      env: { ...process.env, GOBIN: directory, GOTOOLCHAIN: "local", GOFLAGS: "", GOWORK: "off", CGO_ENABLED: "0" },
      encoding: "utf8",
      stdio: ["ignore", "ignore", "pipe"],
      maxBuffer: 64 << 20,
    });
    if (ended.status === 0) renameSync(directory, built);
    else process.stderr.write(`go install failed: ${(ended.stderr ?? "").trim().slice(-300)}\n`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
