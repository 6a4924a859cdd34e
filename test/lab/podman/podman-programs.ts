// podman with its backend for CNI, unpacked from Debian's packages into the user's cache directory: podman 5, of newer distributions, has none.

import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { testCache, unpackPackages } from "../debian-packages.ts";
import type { Requirement } from "../requires.ts";
import { program } from "../containerd/programs.ts";

const unpacked = join(testCache, "debian-podman");
const libraries = ["libsubid4", "libgpgme11", "libassuan0"];
const packages = ["podman", "conmon", "golang-github-containers-common", "busybox-static", ...libraries];
const podman = join(unpacked, "usr", "bin", "podman");

/** The directories of shared libraries in the packages, for each architecture. */
const libraryPath = ["x86_64-linux-gnu", "aarch64-linux-gnu"].map((name) => join(unpacked, "usr", "lib", name)).join(delimiter);

/** Unpacks Debian's packages if they are absent. Answers the reason of a failure, or undefined. */
export function unpackPodman(): string | undefined {
  return existsSync(podman) ? undefined : unpackPackages(packages, unpacked);
}

/** Requires podman 4, and runc. */
export const podmanWithCni: Requirement = () => {
  if (!existsSync(podman)) return "no podman: on Debian, run test/lab/podman/get.ts";
  if (program("runc") === undefined) return "no runc: on Debian, run test/lab/containerd/get.ts";
  const { status, stdout, stderr } = spawnSync(podman, ["--version"], {
    encoding: "utf8",
    env: { LD_LIBRARY_PATH: libraryPath },
  });
  if (status !== 0) return `podman does not run here: ${stderr.trim().slice(-200)}`;
  return / 4\./.test(stdout) ? undefined : `${stdout.trim()} executes no CNI plugins: podman 4 is needed`;
};

/**
 * Makes a directory with a command `podman` for PATH, whose images, containers and state are below the directory. Answers the PATH with it, runc and a
 * static busybox.
 */
export function podmanPath(directory: string): string {
  const settings = join(directory, ".config", "containers");
  mkdirSync(settings, { recursive: true });
  cpSync(join(unpacked, "etc", "containers", "policy.json"), join(settings, "policy.json"));
  const places = ["root", "runroot", "tmpdir"].map((name) => `--${name}=${join(directory, name)}`);
  const conmon = `--conmon=${join(unpacked, "usr", "bin", "conmon")}`;
  const options = ["--cgroup-manager=cgroupfs", "--storage-driver=vfs", "--events-backend=none", ...places, conmon];
  const script = `#!/bin/sh\nexport HOME='${directory}' LD_LIBRARY_PATH='${libraryPath}'\nexec '${podman}' ${options.join(" ")} "$@"\n`;
  writeFileSync(join(directory, "podman"), script);
  chmodSync(join(directory, "podman"), 0o755);
  const runc = join(program("runc") ?? "", "..");
  return [directory, runc, join(unpacked, "bin"), process.env["PATH"] ?? ""].join(delimiter);
}
