// The image of the sandbox container: a static program that does nothing.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { root } from "../compiled.ts";
import { imageTar } from "../oci-image.ts";

/** The image's name, in a domain that cannot exist. */
export const sandboxImage = "plexus.invalid/pause:1";

/** The path of the tar for `ctr images import`, under this name. Throws without a static C library. */
export function sandboxImageTar(name = sandboxImage): string {
  const source = join(root, "test/lab/containerd/pause.c");
  return imageTar({
    name,
    file: "sandbox-image",
    inputs: [name, readFileSync(source, "utf8")],
    config: { Entrypoint: ["/pause"] },
    fill(layer) {
      const args = ["-static", "-Os", "-s", "-o", join(layer, "pause"), source];
      execFileSync("cc", args, { stdio: ["ignore", "inherit", "pipe"] });
    },
  });
}
