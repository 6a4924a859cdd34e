// Gets what an image build without network needs: buildah, a builder made from Debian packages, and the files that deploy/Containerfile
// would download. Everything is kept in the test cache.

import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";

import { basePackages } from "../../../scripts/image/base.ts";
import { type BuildahInit, buildahWith } from "../../../scripts/image/buildah.ts";
import {
  type Architecture,
  architectures,
  downloadPackages,
  machineArchitecture,
} from "../../../scripts/image/debian-packages.ts";
import { downloadNode, nodePackage } from "../../../scripts/image/node-package.ts";
import { testCache } from "../debian-packages.ts";

const cache = join(testCache, "image");
/** Files for deploy/Containerfile. */
export const downloads = join(cache, "downloads");
/** The name of the builder's image in buildah's storage. */
export const builder = "localhost/plexus-builder:test";

/** Emulates arm64 programs on amd64; linked statically. */
export const arm64Emulator = join(cache, "qemu-aarch64-static");

const tools = join(cache, "buildah");
const builderRoot = join(cache, "builder");
/** The unpacked buildah with a storage of its own. */
export const unpackedBuildah: BuildahInit = {
  program: join(tools, "usr/bin/buildah"),
  storage: join(cache, "storage"),
};

/** The builder's packages: a shell, the C compilers, and what unpacks packages. Node comes with node_modules. */
const builderPackages = ["dash", "coreutils", "dpkg", "tar", "gcc", "libc6-dev", "libstdc++6", "libatomic1"];
const crossPackages: Readonly<Record<Architecture, readonly string[]>> = {
  amd64: ["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"],
  arm64: ["gcc-x86-64-linux-gnu", "libc6-dev-amd64-cross"],
};
const buildahPackages = ["buildah", "patchelf"];

/** Requires what `getImagePrograms` gets. Only root may build: an ordinary user's namespace maps one user. */
export function imagePrograms(): string | undefined {
  if (process.getuid?.() !== 0) return "an image is built by root only";
  const needed = [
    join(tools, "usr/bin/buildah"),
    join(builderRoot, ".complete"),
    ...architectures.map(baseDirectory),
    ...architectures.map(nodeDirectory),
  ];
  if (machineArchitecture() === "amd64") needed.push(arm64Emulator);
  const absent = needed.filter((path) => !existsSync(path));
  return absent.length === 0 ? undefined : `${absent.join(", ")} missing: run test/lab/image/get.ts`;
}

function baseDirectory(architecture: Architecture): string {
  return join(downloads, `debian-${architecture}`);
}

function nodeDirectory(architecture: Architecture): string {
  return join(downloads, `node-${architecture}`);
}

/** Downloads and unpacks what is missing. Throws with the message of the first program that failed. */
export async function getImagePrograms(): Promise<void> {
  const machine = machineArchitecture();
  if (machine === undefined) throw new Error(`no image is built on ${process.arch}`);
  await once(tools, async (directory) => {
    await unpack(buildahPackages, machine, directory);
    // The variable LD_LIBRARY_PATH and relative paths do not reach the program that buildah starts in a user namespace.
    const triplet = machine === "amd64" ? "x86_64-linux-gnu" : "aarch64-linux-gnu";
    const libraryPath = ["usr/lib", "lib"].map((name) => join(tools, name, triplet)).join(":");
    const program = join(directory, "usr/bin/buildah");
    await execa(join(directory, "usr/bin/patchelf"), ["--force-rpath", "--set-rpath", libraryPath, program]);
  });
  await once(builderRoot, async (directory) => {
    await unpack([...builderPackages, ...crossPackages[machine]], machine, directory);
    for (const name of ["tmp", "src", "downloads"]) mkdirSync(join(directory, name), { recursive: true, mode: 0o1777 });
    // Debian's package makes this link when it is configured.
    await execa("ln", ["-sf", "dash", join(directory, "bin/sh")]);
    for (const name of ["doc", "man", "locale", "info"])
      rmSync(join(directory, "usr/share", name), { recursive: true, force: true });
    writeFileSync(join(directory, ".complete"), "");
  });
  if (machine === "amd64" && !existsSync(arm64Emulator)) await getEmulator();
  for (const architecture of architectures) {
    await once(baseDirectory(architecture), (directory) => downloadPackages({ packages: basePackages, architecture, directory }));
    const version = join(nodeDirectory(architecture), nodePackage(architecture).version);
    if (!existsSync(version)) rmSync(nodeDirectory(architecture), { recursive: true, force: true });
    await once(nodeDirectory(architecture), async (directory) => {
      await downloadNode(architecture, directory);
      writeFileSync(join(directory, nodePackage(architecture).version), "");
    });
  }
}

/** Keeps the package's emulator for arm64; all of its emulators have 340 MB. */
async function getEmulator(): Promise<void> {
  const directory = `${arm64Emulator}.${process.pid}`;
  try {
    await unpack(["qemu-user-static"], "amd64", directory);
    renameSync(join(directory, "usr/bin/qemu-aarch64-static"), arm64Emulator);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Makes `directory` by a temporary name, so that an interrupted run leaves nothing that looks complete. */
async function once(directory: string, make: (temporary: string) => Promise<void>): Promise<void> {
  if (existsSync(directory)) return;
  const temporary = `${directory}.${process.pid}`;
  mkdirSync(temporary, { recursive: true });
  try {
    await make(temporary);
    renameSync(temporary, directory);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

async function unpack(packages: readonly string[], architecture: Architecture, directory: string): Promise<void> {
  const files = join(directory, ".packages");
  await downloadPackages({ packages, architecture, directory: files });
  for (const name of readdirSync(files).filter((each) => each.endsWith(".deb")))
    await execa("dpkg-deb", ["-x", join(files, name), directory]);
  rmSync(files, { recursive: true, force: true });
}

/** Makes the builder's image in buildah's storage if it is not there. */
export async function makeBuilder(init: BuildahInit = unpackedBuildah): Promise<void> {
  const buildah = buildahWith(init);
  const images = await buildah("images", "--format", "{{.Name}}:{{.Tag}}");
  if (images.split("\n").includes(builder)) return;
  const container = (await buildah("from", "scratch")).trim();
  try {
    await buildah("add", "--quiet", container, builderRoot, "/");
    await buildah("commit", "--quiet", container, builder);
  } finally {
    await buildah("rm", container);
  }
}
