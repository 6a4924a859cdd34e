// The images of a cluster's pods, made here: nothing is pulled.

import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { sandboxImage, sandboxImageTar } from "../containerd/sandbox-image.ts";
import { testCache, unpackPackages } from "../debian-packages.ts";
import { imageTar } from "../oci-image.ts";

/** The image of sandbox containers. */
export const pauseImage = sandboxImage;

/** A small image with a shell and busybox' programs: ip, ping, wget, httpd, nc. Without a command its container sleeps until it is stopped. */
export const toolsImage = "plexus.invalid/tools:1";

const unpacked = join(testCache, "debian-busybox");

/** Unpacks Debian's busybox if busybox is absent. Answers the reason of a failure, or undefined. */
export function unpackBusybox(): string | undefined {
  return busybox() === undefined ? unpackPackages(["busybox-static"], unpacked) : undefined;
}

/** The path of a static busybox, or undefined. BUSYBOX names one. */
export function busybox(): string | undefined {
  const configured = process.env["BUSYBOX"];
  if (configured !== undefined && configured !== "") return configured;
  return ["bin/busybox", "usr/bin/busybox"].map((name) => join(unpacked, name)).find((path) => existsSync(path));
}

/** Paths of the tars of all images that each node gets. */
export function imageTars(): readonly string[] {
  return [sandboxImageTar(), toolsImageTar()];
}

/** Ends within a moment of SIGTERM, so that deletions do not wait for the grace period. */
const sleep = "trap 'exit 0' TERM INT; while :; do sleep 3600 & wait $!; done";

function toolsImageTar(): string {
  const program = busybox();
  if (program === undefined) throw new Error("no busybox: run node test/lab/cluster/get.ts");
  const listed = spawnSync(program, ["--list"], { encoding: "utf8" }).stdout ?? "";
  return imageTar({
    name: toolsImage,
    file: "tools-image",
    inputs: [listed, sleep],
    config: { Cmd: ["/bin/sh", "-c", sleep], Env: ["PATH=/bin"] },
    fill(layer) {
      for (const name of ["bin", "etc", "tmp", "www"]) mkdirSync(join(layer, name));
      copyFileSync(program, join(layer, "bin", "busybox"));
      for (const name of listed.split("\n").filter((each) => each !== "" && each !== "busybox"))
        symlinkSync("busybox", join(layer, "bin", name));
      writeFileSync(join(layer, "etc", "passwd"), "root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n");
      writeFileSync(join(layer, "etc", "group"), "root:x:0:\nnogroup:x:65534:\n");
    },
  });
}
