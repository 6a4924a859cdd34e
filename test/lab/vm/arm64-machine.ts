// A machine with Debian's arm64 kernel, whose only files are those of an image of Plexus, busybox and reference plugins.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

import type { Arm64Files } from "./arm64-files.ts";
import { modulesFor } from "./kernel.ts";

const kernelModules = ["bridge", "veth"];
const plugins = ["bridge", "loopback"];

export interface Arm64Run {
  /** Compressed layers of the image, from the bottom to the top. */
  readonly layers: readonly string[];
  /** Commands for busybox' sh; `b` is a variable with busybox' path. The file systems and the modules are there. */
  readonly script: string;
  /** Milliseconds after which the emulator is killed. */
  readonly maxMs: number;
}

/** Boots, runs the script, and answers the console's output. Throws where the initial file system cannot be made. */
export async function runOnArm64(files: Arm64Files, { layers, script, maxMs }: Arm64Run): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "plexus-arm64-"));
  try {
    const initrd = makeInitrd(files, layers, script, directory);
    const { emulator, kernel } = files;
    // The machine's clock counts instructions, 10^9 in a second, and skips idle time: limits of time mean the same on a busy machine.
    const clock = "-accel tcg,thread=single -icount shift=0,sleep=off -smp 1";
    const options = `-M virt -cpu cortex-a72 ${clock} -m 2048 -nographic -nic none -no-reboot`.split(" ");
    const boot = ["-kernel", kernel.image, "-initrd", initrd, "-append", "console=ttyAMA0 quiet loglevel=1 panic=-1"];
    const machine = spawn(emulator.program, [...emulator.args, ...options, ...boot], {
      env: { ...process.env, ...emulator.env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const timer = setTimeout(() => machine.kill("SIGKILL"), maxMs);
    let output = "";
    machine.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    await once(machine, "close");
    clearTimeout(timer);
    return output.replaceAll("\r", "");
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function makeInitrd(
  { kernel, plugins: from, busybox }: Arm64Files,
  layers: readonly string[],
  script: string,
  directory: string,
) {
  const root = join(directory, "root");
  mkdirSync(root);
  const run = (program: string, ...args: readonly string[]): void => {
    const { status, stderr } = spawnSync(program, args, { cwd: root, encoding: "utf8" });
    if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${stderr}`);
  };
  for (const layer of layers) run("tar", "-xzpf", layer);
  for (const name of ["bin", "dev", "m", "plugins", "proc", "run", "sys", "tmp"])
    mkdirSync(join(root, name), { recursive: true });
  copyFileSync(kernel.busybox, join(root, "bin/busybox"));
  for (const name of plugins) copyFileSync(join(from, name), join(root, "plugins", name));
  const modules = modulesFor(kernel, kernelModules);
  for (const file of modules) copyFileSync(file, join(root, "m", basename(file)));
  const init = [
    "#!/bin/busybox sh",
    "b=/bin/busybox",
    "$b mount -t proc proc /proc; $b mount -t sysfs sys /sys; $b mount -t devtmpfs dev /dev",
    "$b mount -t tmpfs tmpfs /run; $b mount -t tmpfs tmpfs /tmp",
    ...modules.map((file) => `$b insmod /m/${basename(file)}`),
    "$b hostname arm64; $b ip link set lo up",
    script,
    "echo o >/proc/sysrq-trigger; $b sleep 60",
  ];
  writeFileSync(join(root, "init"), `${init.join("\n")}\n`, { mode: 0o755 });
  const initrd = join(directory, "initrd");
  run("sh", "-c", `find . | '${busybox}' cpio -o -H newc >'${initrd}' 2>/dev/null`);
  return initrd;
}
