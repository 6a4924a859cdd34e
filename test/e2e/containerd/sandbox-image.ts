// Makes the image of the sandbox container without a registry: a static program that does nothing, in one layer, as an OCI image layout in a
// tar.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { arch, tmpdir } from "node:os";
import { join } from "node:path";

import { builtOnce, root } from "../../harness/compiled.ts";

/** The image's name, in a domain that cannot exist. */
export const sandboxImage = "plexus.invalid/pause:1";

const architectures: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64", s390x: "s390x", ppc64: "ppc64le" };

/** The path of the tar for `ctr images import`. Throws without a static C library. */
export function sandboxImageTar(): string {
  const source = join(root, "test/e2e/containerd/pause.c");
  return builtOnce("sandbox-image", [readFileSync(source, "utf8"), sandboxImage, arch()], (output) => {
    const directory = mkdtempSync(join(tmpdir(), "plexus-image-"));
    try {
      const layer = join(directory, "layer");
      const layout = join(directory, "layout");
      mkdirSync(layer);
      mkdirSync(join(layout, "blobs", "sha256"), { recursive: true });
      execFileSync("cc", ["-static", "-Os", "-s", "-o", join(layer, "pause"), source], { stdio: ["ignore", "inherit", "pipe"] });
      tar(layer, join(directory, "layer.tar"));
      writeLayout(layout, join(directory, "layer.tar"));
      tar(layout, output);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
}

function tar(directory: string, output: string): void {
  execFileSync("tar", ["--numeric-owner", "--owner=0", "--group=0", "--sort=name", "-C", directory, "-cf", output, "."]);
}

function writeLayout(layout: string, layer: string): void {
  const blob = (mediaType: string, content: Buffer): { mediaType: string; digest: string; size: number } => {
    const sha256 = createHash("sha256").update(content).digest("hex");
    writeFileSync(join(layout, "blobs", "sha256", sha256), content);
    return { mediaType, digest: `sha256:${sha256}`, size: content.length };
  };
  const layerBlob = blob("application/vnd.oci.image.layer.v1.tar", readFileSync(layer));
  const image = {
    architecture: architectures[arch()] ?? arch(),
    os: "linux",
    config: { Entrypoint: ["/pause"] },
    rootfs: { type: "layers", diff_ids: [layerBlob.digest] },
  };
  const config = blob("application/vnd.oci.image.config.v1+json", Buffer.from(JSON.stringify(image)));
  const manifest = { schemaVersion: 2, mediaType: "application/vnd.oci.image.manifest.v1+json", config, layers: [layerBlob] };
  const manifestBlob = blob(manifest.mediaType, Buffer.from(JSON.stringify(manifest)));
  const named = { ...manifestBlob, annotations: { "io.containerd.image.name": sandboxImage } };
  writeFileSync(join(layout, "index.json"), JSON.stringify({ schemaVersion: 2, manifests: [named] }));
  writeFileSync(join(layout, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
}
