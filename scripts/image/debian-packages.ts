// Downloads Debian packages for any architecture, without installing them and without the machine's own package state.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";

/** Architectures of the image, by their name in OCI images, which is Debian's name, too. */
export const architectures = ["amd64", "arm64"] as const;

/** An architecture of the image. */
export type Architecture = (typeof architectures)[number];

/** The build machine's architecture, or undefined where no image can be built for the machine itself. */
export function machineArchitecture(): Architecture | undefined {
  return process.arch === "x64" ? "amd64" : process.arch === "arm64" ? "arm64" : undefined;
}

/** The packages to download. */
export interface DebianDownload {
  readonly packages: readonly string[];
  readonly architecture: Architecture;
  /** The directory of the `.deb` files; created if missing. */
  readonly directory: string;
}

/**
 * Downloads the packages with all that they depend on, from the sources of this machine's apt, which checks the signatures. Throws with
 * apt's message.
 */
export async function downloadPackages({ packages, architecture, directory }: DebianDownload): Promise<void> {
  const state = join(directory, ".apt");
  for (const each of ["state/lists/partial", "cache", "archives/partial"]) mkdirSync(join(state, each), { recursive: true });
  // No package counts as installed, so that every dependency is downloaded.
  writeFileSync(join(state, "status"), "");
  const settings = {
    "APT::Architecture": architecture,
    "APT::Architectures": architecture,
    "APT::Sandbox::User": "",
    "Debug::NoLocking": "1",
    "Dir::State": join(state, "state"),
    "Dir::State::status": join(state, "status"),
    "Dir::Cache": join(state, "cache"),
    "Dir::Cache::archives": directory,
  };
  mkdirSync(join(directory, "partial"), { recursive: true });
  const options = Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  // A source that has nothing for this architecture makes the update fail in part: the installation reports what is missing.
  await execa("apt-get", [...options, "update"], { reject: false });
  await execa("apt-get", [...options, "install", "--download-only", "--yes", "--no-install-recommends", ...packages]);
}
