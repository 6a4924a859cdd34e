// Plays K3s at the start of a release: it unpacks its programs into a directory of their own, and moves the link `current`. The code is our own; the behaviour
// is that of `extract` in cmd/k3s/main.go of k3s-io/k3s: at commit 0208f16 for releases before October 2024, at 5b791c1 for those with data/cni.

import { existsSync, lstatSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The multicall program that K3s' plugins are links to. */
const multicall = "cni";

/** One release of K3s. */
export interface K3sRelease {
  readonly dataDir: string;
  /** The name of the release's directory: a digest. */
  readonly digest: string;
  /** The names of its plugins. */
  readonly plugins: readonly string[];
  /** Whether the release has data/cni, which no upgrade replaces. */
  readonly hasStableDirectory: boolean;
  /** Called while `current` leads nowhere: the older releases move it before the new directory has its name. */
  readonly whileDangling?: () => Promise<void>;
}

/** Unpacks the release unless it is there, and moves `current`. */
export async function extractK3s({ dataDir, digest, plugins, hasStableDirectory, whileDangling }: K3sRelease): Promise<void> {
  const data = join(dataDir, "data");
  const directory = join(data, digest);
  if (existsSync(join(directory, "bin", "k3s"))) return;
  const unpacked = `${directory}-tmp`;
  mkdirSync(join(unpacked, "bin"), { recursive: true });
  for (const name of ["k3s", multicall]) writeFileSync(join(unpacked, "bin", name), "#!/bin/sh\n", { mode: 0o755 });
  for (const name of plugins) symlinkSync(multicall, join(unpacked, "bin", name));
  if (hasStableDirectory) {
    renameSync(unpacked, directory);
    mkdirSync(join(data, "cni"), { recursive: true });
    for (const name of [multicall, ...plugins]) symlinkSync(join(directory, "bin", multicall), join(data, "cni", name));
  }
  const current = join(data, "current");
  if (lstatSync(current, { throwIfNoEntry: false }) !== undefined) renameSync(current, join(data, "previous"));
  symlinkSync(directory, current);
  if (hasStableDirectory) return;
  await whileDangling?.();
  renameSync(unpacked, directory);
}
