// Makes container images without a registry: one layer from a directory, as an OCI image layout in a tar for `ctr images import`.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { arch, tmpdir } from "node:os";
import { join } from "node:path";

import { builtOnce } from "./compiled.ts";

const architectures: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64", s390x: "s390x", ppc64: "ppc64le" };

export interface ImageInit {
  /** The image's name with its tag, in a domain that cannot exist. */
  readonly name: string;
  /** Further names of the same image. */
  readonly otherNames?: readonly string[];
  /** Keys of the image's configuration, such as Entrypoint, Cmd and Env. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Writes the layer's files into a directory. */
  readonly fill: (directory: string) => void;
}

export interface KeptImageInit extends ImageInit {
  /** The base name of the tar. */
  readonly file: string;
  /** Texts on which the image depends. The image is made once for the same texts. */
  readonly inputs: readonly string[];
}

/** The path of the image's tar, which is kept. */
export function imageTar({ file, inputs, ...init }: KeptImageInit): string {
  const { name, otherNames = [], config } = init;
  return builtOnce(file, [...inputs, name, ...otherNames, JSON.stringify(config), arch()], (output) => writeImage(output, init));
}

/** Writes an image as a tar. */
export function writeImage(output: string, { name, otherNames = [], config, fill }: ImageInit): void {
  const directory = mkdtempSync(join(tmpdir(), "plexus-image-"));
  try {
    const layer = join(directory, "layer");
    const layout = join(directory, "layout");
    mkdirSync(layer);
    mkdirSync(join(layout, "blobs", "sha256"), { recursive: true });
    fill(layer);
    tar(layer, join(directory, "layer.tar"));
    writeLayout(layout, join(directory, "layer.tar"), [name, ...otherNames], config);
    tar(layout, output);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function tar(directory: string, output: string): void {
  execFileSync("tar", ["--numeric-owner", "--owner=0", "--group=0", "--sort=name", "-C", directory, "-cf", output, "."]);
}

function writeLayout(
  layout: string,
  layer: string,
  names: readonly string[],
  imageConfig: Readonly<Record<string, unknown>>,
): void {
  const blob = (mediaType: string, content: Buffer): { mediaType: string; digest: string; size: number } => {
    const sha256 = createHash("sha256").update(content).digest("hex");
    writeFileSync(join(layout, "blobs", "sha256", sha256), content);
    return { mediaType, digest: `sha256:${sha256}`, size: content.length };
  };
  const layerBlob = blob("application/vnd.oci.image.layer.v1.tar", readFileSync(layer));
  const image = {
    architecture: architectures[arch()] ?? arch(),
    os: "linux",
    config: imageConfig,
    rootfs: { type: "layers", diff_ids: [layerBlob.digest] },
  };
  const config = blob("application/vnd.oci.image.config.v1+json", Buffer.from(JSON.stringify(image)));
  const manifest = { schemaVersion: 2, mediaType: "application/vnd.oci.image.manifest.v1+json", config, layers: [layerBlob] };
  const manifestBlob = blob(manifest.mediaType, Buffer.from(JSON.stringify(manifest)));
  const manifests = names.map((name) => ({ ...manifestBlob, annotations: { "io.containerd.image.name": name } }));
  writeFileSync(join(layout, "index.json"), JSON.stringify({ schemaVersion: 2, manifests }));
  writeFileSync(join(layout, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
}
