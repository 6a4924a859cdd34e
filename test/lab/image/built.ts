// The image of the sources, built once for their content. Tests of the image and of the cluster use it.

import { createHash } from "node:crypto";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

import { defaultCacheDir } from "../../../delegates/sdk/build/content-cache.ts";
import { lockAsync } from "../../../host/store/locks/file-lock.ts";
import { buildImage, type BuiltImage } from "../../../scripts/image.ts";
import { type Architecture, architectures } from "../../../scripts/image/debian-packages.ts";
import { root } from "../compiled.ts";
import { testCache } from "../debian-packages.ts";
import { builder, downloads, makeBuilder, unpackedBuildah } from "./programs.ts";

const kept = join(testCache, "image", "built");
/** The time of the files in the tests' images, in seconds since 1970: an image that an earlier commit built has the digests of one built today. */
const time = 1_700_000_000;

/** Files that a build of the image does not read. Every other file of the tree is an input, so a new folder is an input, too. */
const unread = [":!docs", ":!bench", ":!test", ":!*.test.ts", ":!*.md"];

/** The image of the sources as they are now, for all architectures. The first call for these sources builds. */
export async function testImage(): Promise<BuiltImage> {
  const directory = join(kept, digestOfInputs());
  return locked(async () => {
    if (existsSync(directory)) return builtIn(directory);
    const temporary = `${kept}.new`;
    rmSync(temporary, { recursive: true, force: true });
    // The tree's own build has made the components already.
    await build(temporary, architectures, defaultCacheDir);
    // Images of earlier sources are of no use.
    rmSync(kept, { recursive: true, force: true });
    mkdirSync(kept, { recursive: true });
    renameSync(temporary, directory);
    return builtIn(directory);
  });
}

/** Builds the image into `output`, without network. Components come from the cache `components`, as far as it has them. */
export async function buildTestImage(output: string, wanted: readonly Architecture[], components: string): Promise<BuiltImage> {
  return locked(() => build(output, wanted, components));
}

async function build(output: string, wanted: readonly Architecture[], componentCache: string): Promise<BuiltImage> {
  await makeBuilder();
  return buildImage({ output, architectures: wanted, time, buildah: unpackedBuildah, builder, downloads, componentCache });
}

/** One build at a time: test files run at the same time, and use one storage of buildah. */
async function locked<Value>(use: () => Promise<Value>): Promise<Value> {
  mkdirSync(join(testCache, "image"), { recursive: true });
  const { lock, errno } = await lockAsync({ path: `${kept}.lock`, deadlineMs: 20 * 60_000, shared: false });
  if (lock === undefined) throw new Error(`${kept}.lock cannot be locked: errno ${errno}`);
  try {
    return await use();
  } finally {
    lock.release();
  }
}

function builtIn(output: string): BuiltImage {
  const archive = readdirSync(output).find((name) => name.endsWith(".tar")) ?? "";
  return { layout: join(output, "oci"), archive: join(output, archive) };
}

function digestOfInputs(): string {
  const listed = spawnSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ".", ...unread], {
    cwd: root,
    encoding: "utf8",
  });
  const hash = createHash("sha256");
  for (const name of listed.stdout
    .split("\0")
    .filter((each) => each !== "")
    .toSorted()) {
    const path = join(root, name);
    if (existsSync(path)) hash.update(`${name}\0`).update(readFileSync(path)).update("\0");
  }
  return hash.digest("hex").slice(0, 16);
}
