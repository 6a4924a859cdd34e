// Plexus and thick Multus as an administrator installs, upgrades and removes them, for the comparison on one cluster.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { multusRelease } from "../lab/multus/multus-binary.ts";
import type { Cluster } from "../lab/cluster/cluster.ts";
import { deployMultus, fillMultus, importMultus, multusDaemonSet } from "../lab/cluster/multus.ts";
import { fillPlexus, importPlexus } from "../lab/cluster/plexus-image.ts";
import { deployPlexus, removePlexus } from "../lab/cluster/release.ts";

/** A meta-plugin under measurement. */
export interface Contender {
  readonly name: "multus" | "plexus";
  readonly version: string;
  /** Imports the images of two releases. */
  prepare(cluster: Cluster): void;
  install(cluster: Cluster): Promise<void>;
  /** Replaces the image by that of the next release, and waits for the rollout. */
  upgrade(cluster: Cluster): Promise<void>;
  uninstall(cluster: Cluster): Promise<void>;
  /** The compressed size in MiB of the programs that the image adds to its base image. */
  imageMiB(): number;
}

const tags = ["v1", "v2"] as const;

/** In the order of the measurement. */
export const contenders: readonly Contender[] = [
  {
    name: "multus",
    version: multusRelease,
    prepare: ({ nodes }) => tags.forEach((tag) => importMultus(nodes, tag)),
    install: (cluster) => deployMultus(cluster, "v1"),
    upgrade: (cluster) => deployMultus(cluster, "v2"),
    async uninstall(cluster) {
      const objects = [`daemonset/${multusDaemonSet}`, "configmap/multus-daemon-config", "serviceaccount/multus"];
      await cluster.succeed("-n", "kube-system", "delete", ...objects);
      await cluster.succeed("delete", "clusterrole/multus", "clusterrolebinding/multus");
    },
    imageMiB: () => compressedMiB(fillMultus),
  },
  {
    name: "plexus",
    version: "0.1.0",
    prepare: ({ nodes }) => tags.forEach((tag) => importPlexus(nodes, tag)),
    install: (cluster) => deployPlexus(cluster, "install", "v1"),
    upgrade: (cluster) => deployPlexus(cluster, "upgrade", "v2"),
    uninstall: (cluster) => removePlexus(cluster),
    imageMiB: () => compressedMiB(fillPlexus),
  },
];

function compressedMiB(fill: (layer: string) => void): number {
  const directory = mkdtempSync(join(tmpdir(), "image-size-"));
  try {
    const layer = join(directory, "layer");
    mkdirSync(layer);
    fill(layer);
    execFileSync("tar", ["-C", layer, "-cf", join(directory, "layer.tar"), "."]);
    return gzipSync(readFileSync(join(directory, "layer.tar"))).length / 2 ** 20;
  } finally {
    rmSync(directory, { recursive: true });
  }
}
