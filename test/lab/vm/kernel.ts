// Debian's kernel and busybox for the virtual machine, unpacked from their packages without installing them.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { testCache, unpackPackages } from "../debian-packages.ts";
import type { Requirement } from "../requires.ts";

/** Paths of the virtual machine's files. */
export interface VmKernel {
  readonly image: string;
  readonly version: string;
  /** `/lib/modules/<version>` of the unpacked package, with a modules.dep. */
  readonly modules: string;
  /** Linked statically. */
  readonly busybox: string;
}

export const emulator = "qemu-system-x86_64";

/** Requires an emulator; KVM is not needed. */
export const vmTools: Requirement = () => {
  if (process.arch !== "x64") return "the machine's kernel is fetched for x86-64 only";
  return spawnSync(emulator, ["--version"], { stdio: "ignore" }).status === 0
    ? undefined
    : `no ${emulator} on PATH (Debian: apt-get install --no-install-recommends qemu-system-x86)`;
};

/** The kernel, fetched with apt-get if it is not in the cache. A string is the reason of a failure. */
export function vmKernel(): VmKernel | string {
  const packages = ["linux-image-amd64", "busybox-static"];
  const shown = spawnSync("apt-cache", ["depends", packages[0] ?? ""], { encoding: "utf8" });
  const kernelPackage = /Depends: (linux-image-\S+)/.exec(shown.stdout ?? "")?.[1];
  if (kernelPackage === undefined) return "apt-get knows no linux-image-amd64: run apt-get update, on Debian";
  const directory = join(testCache, `vm-${kernelPackage}`);
  if (!existsSync(directory)) {
    const why = unpackPackages([kernelPackage, "busybox-static"], directory);
    if (why !== undefined) return why;
  }
  const busybox = ["usr/bin/busybox", "bin/busybox"].map((path) => join(directory, path)).find((path) => existsSync(path));
  if (busybox === undefined) return "busybox-static has no busybox in it";
  return kernelIn(directory, busybox, busybox);
}

/** The kernel of an unpacked package. `depmod` is a busybox of this machine, `busybox` one of the virtual machine. A string is the reason of a failure. */
export function kernelIn(directory: string, depmod: string, busybox: string): VmKernel | string {
  const [image] = readdirSync(join(directory, "boot")).filter((name) => name.startsWith("vmlinuz-"));
  if (image === undefined) return `${directory} has no kernel in it`;
  const version = image.slice("vmlinuz-".length);
  const modules = join(directory, "lib/modules", version);
  if (!existsSync(join(modules, "modules.dep"))) {
    const made = spawnSync(depmod, ["depmod", "-b", directory, version], { encoding: "utf8" });
    if (made.status !== 0) return `depmod: ${made.stderr}`;
  }
  return { image: join(directory, "boot", image), version, modules, busybox };
}

/** Files of these modules and of their dependencies, dependencies first; names as in modules.dep, without `.ko`. */
export function modulesFor({ modules }: VmKernel, names: readonly string[]): readonly string[] {
  const needs = new Map<string, readonly string[]>();
  for (const line of readFileSync(join(modules, "modules.dep"), "utf8").split("\n")) {
    const [file = "", rest = ""] = line.split(":");
    if (file !== "")
      needs.set(
        file,
        rest.split(" ").filter((each) => each !== ""),
      );
  }
  const ordered = new Set<string>();
  const take = (file: string): void => {
    if (ordered.has(file)) return;
    for (const each of needs.get(file) ?? []) take(each);
    ordered.add(file);
  };
  for (const name of names) {
    const file = [...needs.keys()].find((each) => each.endsWith(`/${name}.ko`));
    if (file !== undefined) take(file);
  }
  return [...ordered].map((file) => join(modules, file));
}
