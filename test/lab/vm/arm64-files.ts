// The files of the arm64 machine, from Debian's packages: the emulator with its libraries, and for arm64 the kernel, busybox and the reference plugins.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { execa } from "execa";

import { type Architecture, downloadPackages, machineArchitecture } from "../../../scripts/image/debian-packages.ts";
import { busybox, unpackBusybox } from "../cluster/images.ts";
import { testCache } from "../debian-packages.ts";
import { getImagePrograms } from "../image/programs.ts";
import { kernelIn, type VmKernel } from "./kernel.ts";

const emulatorName = "qemu-system-aarch64";
const emulatorRoot = join(testCache, "vm-emulator-arm64");
const guestRoot = join(testCache, "vm-arm64");

/** How to start the emulator. */
export interface Emulator {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Files for the arm64 machine. */
export interface Arm64Files {
  readonly emulator: Emulator;
  readonly kernel: VmKernel;
  /** The directory of the reference plugins for arm64. */
  readonly plugins: string;
  /** A busybox of this machine. */
  readonly busybox: string;
}

/** Downloads what is missing: 180 MB, and what the image build needs. Throws with the message of the first program that failed. */
export async function getArm64(): Promise<void> {
  await getImagePrograms();
  const machine = machineArchitecture();
  if (machine === undefined) throw new Error(`no emulator is downloaded for ${process.arch}`);
  const why = unpackBusybox();
  if (why !== undefined) throw new Error(why);
  if (!isInstalled()) await unpackOnce(["qemu-system-arm"], machine, emulatorRoot);
  await unpackOnce(["linux-image-arm64", "busybox-static", "containernetworking-plugins"], "arm64", guestRoot);
}

/** The files, or the reason why they are missing. */
export function arm64Files(): Arm64Files | string {
  const own = busybox();
  if (own === undefined || !existsSync(guestRoot) || (!isInstalled() && !existsSync(emulatorRoot)))
    return "the arm64 machine's files are missing: npm run vm -- --arm64";
  const kernel = kernelIn(guestRoot, own, join(guestRoot, "bin/busybox"));
  if (typeof kernel === "string") return kernel;
  return { emulator: emulator(), kernel, plugins: join(guestRoot, "usr/lib/cni"), busybox: own };
}

function isInstalled(): boolean {
  return spawnSync(emulatorName, ["--version"], { stdio: "ignore" }).status === 0;
}

function emulator(): Emulator {
  if (isInstalled()) return { program: emulatorName, args: [], env: {} };
  const triplet = machineArchitecture() === "arm64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
  const libraries = ["usr/lib", "lib"].map((name) => join(emulatorRoot, name, triplet));
  return {
    program: join(emulatorRoot, "usr/bin", emulatorName),
    args: ["-L", join(emulatorRoot, "usr/share/qemu")],
    env: { LD_LIBRARY_PATH: [...libraries, join(libraries[0] ?? "", "pulseaudio")].join(delimiter) },
  };
}

async function unpackOnce(packages: readonly string[], architecture: Architecture, directory: string): Promise<void> {
  if (existsSync(directory)) return;
  const temporary = `${directory}.${process.pid}`;
  const files = join(temporary, ".packages");
  mkdirSync(temporary, { recursive: true });
  try {
    await downloadPackages({ packages, architecture, directory: files });
    for (const name of readdirSync(files).filter((each) => each.endsWith(".deb")))
      await execa("dpkg-deb", ["-x", join(files, name), temporary]);
    rmSync(files, { recursive: true, force: true });
    renameSync(temporary, directory);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}
