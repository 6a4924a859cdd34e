// Images of programs of other projects, which are made within a second and imported on nodes.

import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import type { ClusterNode } from "../cluster/node.ts";
import { writeImage } from "../oci-image.ts";

export interface ProgramsImage {
  /** The image's name with its tag. Images with different tags have different digests. */
  readonly name: `${string}:${string}`;
  /** Paths of the programs' files on this machine, by their absolute path in the image. */
  readonly programs: Readonly<Record<string, string | undefined>>;
  /** Targets of symbolic links, by their absolute path in the image. */
  readonly links?: Readonly<Record<string, string>>;
}

/** Makes an image and imports it on nodes. Its PATH has the directories of its programs. */
export function importPrograms(nodes: readonly ClusterNode[], { name, programs, links = {} }: ProgramsImage): void {
  const directory = mkdtempSync(join(tmpdir(), "programs-image-"));
  const path = [...new Set(Object.keys(programs).map(dirname)), "/usr/sbin", "/usr/bin"].join(":");
  const [, tag] = name.split(":");
  const fill = (layer: string): void => {
    for (const each of ["etc", "run", "tmp", "usr"]) mkdirSync(join(layer, each));
    writeFileSync(join(layer, "etc", "passwd"), "root:x:0:0:root:/:/bin/sh\n");
    for (const [target, source] of Object.entries(programs)) {
      if (source === undefined) throw new Error(`the program ${target} of the image ${name} has not been built`);
      mkdirSync(join(layer, dirname(target)), { recursive: true });
      copyFileSync(source, join(layer, target));
      chmodSync(join(layer, target), 0o755);
    }
    for (const [link, target] of Object.entries(links)) {
      mkdirSync(join(layer, dirname(link)), { recursive: true });
      symlinkSync(target, join(layer, link));
    }
  };
  try {
    const output = join(directory, "image.tar");
    writeImage(output, { name, config: { Env: [`PATH=${path}`], Labels: { "org.opencontainers.image.version": tag } }, fill });
    for (const node of nodes) node.importImage(output);
  } finally {
    rmSync(directory, { recursive: true });
  }
}
