// OCI image layouts: the files of an image as the OCI image specification has them in a directory.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { z } from "zod";

const Descriptor = z.looseObject({
  mediaType: z.string(),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/u),
  size: z.number(),
  platform: z.looseObject({ architecture: z.string(), os: z.string() }).optional(),
});
const Index = z.looseObject({ manifests: z.array(Descriptor) });
const Manifest = z.looseObject({ config: Descriptor, layers: z.array(Descriptor) });
const Config = z.looseObject({
  architecture: z.string(),
  os: z.string(),
  created: z.string(),
  config: z.looseObject({ Cmd: z.array(z.string()), Env: z.array(z.string()) }),
});

/** The image of one architecture in a layout. */
export interface ImageOfLayout {
  readonly architecture: string;
  /** Digest of the manifest. */
  readonly digest: string;
  readonly manifest: z.infer<typeof Manifest>;
  readonly config: z.infer<typeof Config>;
  /** Paths of the compressed layers, from the bottom to the top. */
  readonly layers: readonly string[];
  /** Bytes of manifest, configuration and compressed layers: what a node downloads. */
  readonly compressedSize: number;
}

const indexType = "application/vnd.oci.image.index.v1+json";

/** The path of a blob. */
export function blobPath(layout: string, digest: string): string {
  return join(layout, "blobs", ...digest.split(":"));
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, "utf8"));
}

/** The images in a layout, through nested indexes. Throws where a file is missing or malformed. */
export function imagesOf(layout: string): readonly ImageOfLayout[] {
  const within = (index: z.infer<typeof Index>): readonly ImageOfLayout[] =>
    index.manifests.flatMap(({ mediaType, digest, size }) => {
      const content = readJson(blobPath(layout, digest));
      if (mediaType === indexType) return within(Index.parse(content));
      const manifest = Manifest.parse(content);
      const config = Config.parse(readJson(blobPath(layout, manifest.config.digest)));
      const compressedSize = [manifest.config, ...manifest.layers].reduce((sum, each) => sum + each.size, size);
      const layers = manifest.layers.map((layer) => blobPath(layout, layer.digest));
      return [{ architecture: config.architecture, digest, manifest, config, layers, compressedSize }];
    });
  return within(Index.parse(readJson(join(layout, "index.json"))));
}

/**
 * Gives the only entry of the layout's index the image's name: containerd takes the full name, other programs take the tag. Throws where the
 * layout has several entries.
 */
export function nameImage(layout: string, name: string, tag: string): void {
  const path = join(layout, "index.json");
  const index = Index.parse(readJson(path));
  const [entry, ...others] = index.manifests;
  if (entry === undefined || others.length > 0) throw new Error(`${path} has ${index.manifests.length} entries, not one`);
  const annotations = { "io.containerd.image.name": `${name}:${tag}`, "org.opencontainers.image.ref.name": tag };
  writeFileSync(path, `${JSON.stringify({ ...index, mediaType: indexType, manifests: [{ ...entry, annotations }] })}\n`);
}

/** The contents of all files of an image whose names match tar's pattern, from the bottom layer to the top. */
export async function readFromLayers({ layers }: ImageOfLayout, pattern: string): Promise<readonly string[]> {
  const contents: string[] = [];
  for (const layer of layers) {
    const { stdout } = await execa("tar", ["-tzf", layer, "--wildcards", pattern], { reject: false });
    for (const name of stdout.split("\n").filter((each) => each !== "" && !each.endsWith("/")))
      contents.push((await execa("tar", ["-xzOf", layer, name])).stdout);
  }
  return contents;
}
