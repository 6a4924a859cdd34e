// Images of Plexus for test clusters: of the build in dist/, made within seconds (the release as `plexusctl install` lays it out, with this
// machine's libraries for Node), and the image for users, that of deploy/Containerfile.

import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { shelllessCommand } from "../../../host/node/install/plexusctl-command.ts";
import { imagesOf, nameImage } from "../../../scripts/image/oci-layout.ts";
import { machineArchitecture } from "../../../scripts/image/debian-packages.ts";
import { testImage } from "../image/built.ts";
import { writeImage } from "../oci-image.ts";
import { dist } from "../plexus.ts";
import type { ClusterNode } from "./node.ts";

/** The repository of these images, without a tag. */
export const plexusRepository = "plexus.invalid/plexus";

/** Imports the image with this tag on nodes. Images with different tags have different digests. */
export function importPlexus(nodes: readonly ClusterNode[], tag: string, repository = plexusRepository): void {
  const directory = mkdtempSync(join(tmpdir(), "plexus-image-"));
  try {
    const output = join(directory, "image.tar");
    writeImage(output, {
      name: `${repository}:${tag}`,
      config: { Env: ["PATH=/opt/plexus/bin"], Labels: { "org.opencontainers.image.version": tag } },
      fill: fillPlexus,
    });
    for (const node of nodes) node.importImage(output);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/**
 * Imports the image of deploy/Containerfile with this tag on nodes. The first call for these sources builds the image, in minutes; its
 * requirement is `imagePrograms`. Answers the digests by which a kubelet may name the image: index, manifest and configuration.
 */
export async function importShippedPlexus(nodes: readonly ClusterNode[], tag: string): Promise<readonly string[]> {
  const { layout } = await testImage();
  const directory = mkdtempSync(join(tmpdir(), "plexus-image-"));
  try {
    // The layout is kept for other tests, so that its index gets this name in a copy.
    copyFileSync(join(layout, "index.json"), join(directory, "index.json"));
    nameImage(directory, plexusRepository, tag);
    const output = join(directory, "image.tar");
    execFileSync("tar", ["-cf", output, "-C", layout, "blobs", "oci-layout", "-C", directory, "index.json"]);
    for (const node of nodes) node.importImage(output);
    const { manifests } = JSON.parse(readFileSync(join(layout, "index.json"), "utf8"));
    const images = imagesOf(layout).filter(({ architecture }) => architecture === machineArchitecture());
    return [manifests[0].digest, ...images.flatMap(({ digest, manifest }) => [digest, manifest.config.digest])];
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Writes the files of the image below a directory. */
export function fillPlexus(layer: string): void {
  const node = realpathSync(process.execPath);
  const install = [join(dist, "plexusctl.cjs"), "install", `--from=${dist}`, `--root=${layer}`, "--cni-bin=/opt/cni/bin"];
  execFileSync(node, install, { stdio: ["ignore", "ignore", "pipe"] });
  writeFileSync(join(layer, "opt", "plexus", "bin", "plexusctl"), shelllessCommand("/opt/plexus"), { mode: 0o755 });
  copyFileSync(join(dist, "plexus-controller.cjs"), join(layer, "opt", "plexus", "plexus-controller.cjs"));
  // In the image all files are below /opt/plexus.
  renameSync(join(layer, "opt", "cni", "bin"), join(layer, "opt", "plexus", "cni"));
  rmSync(join(layer, "opt", "plexus", "cni", ".plexus"), { force: true });
  symlinkSync("..", join(layer, "opt", "plexus", "cni", ".plexus"));
  // Paths of ldd: `libm.so.6 => /lib/…/libm.so.6 (0x…)` and `/lib64/ld-linux-x86-64.so.2 (0x…)`.
  const listed = execFileSync("ldd", [node], { encoding: "utf8" });
  for (const [, path = ""] of listed.matchAll(/(\/\S+) \(0x/g)) {
    mkdirSync(join(layer, dirname(path)), { recursive: true });
    copyFileSync(path, join(layer, path));
  }
  for (const name of ["etc", "tmp", "run"]) mkdirSync(join(layer, name), { recursive: true });
  writeFileSync(join(layer, "etc", "passwd"), "root:x:0:0:root:/:/\n");
}
