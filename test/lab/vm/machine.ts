// A virtual machine that runs a shell command on this machine's files, which it mounts read-only under an overlay in memory.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { adapter, type Emulator } from "./adapter-emulator.ts";
import { emulator, modulesFor, type VmKernel } from "./kernel.ts";

/** Kernel modules to mount the files; the command loads further modules. */
const bootModules = ["virtio_pci", "9pnet_virtio", "9p", "overlay"];
const ended = "plexus-vm-ended";

export interface MachineRun {
  /** The command for sh, run in this process' working directory; may have several lines. */
  readonly command: string;
  /** Kernel modules to load before the command. */
  readonly modules: readonly string[];
  readonly memoryMiB: number;
  /**
   * One processor and a clock that counts instructions, 10^9 in a second, while the machine computes: limits of time in the command mean the same on a busy
   * machine. Otherwise two processors and the time of day.
   */
  readonly countsInstructions?: boolean;
  /** Further arguments of the kernel. */
  readonly kernelArguments?: string;
  /** An emulator whose machine has an adapter with virtual functions. Absent: the machine has no adapter. */
  readonly adapterEmulator?: Emulator;
  /** Called with the machine's console output. */
  readonly show: (text: string) => void;
}

/** Runs the command. Returns its exit status, or the reason why it has none. */
export async function runInMachine(
  kernel: VmKernel,
  { command, modules, memoryMiB, countsInstructions = false, kernelArguments = "", adapterEmulator, show }: MachineRun,
): Promise<number | string> {
  const directory = mkdtempSync(join(tmpdir(), "plexus-vm-"));
  try {
    const loaded = modulesFor(kernel, modules).map((file) => `insmod ${file} 2>/dev/null`);
    const script = [
      "export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb",
      `insmod() { ${kernel.busybox} insmod "$@"; }`,
      ...loaded,
      "ip link set lo up",
      "echo localhost >/proc/sys/kernel/hostname",
      `cd '${process.cwd()}'`,
      `( ${command}\n)`,
      `echo "${ended} $?"`,
    ].join("\n");
    writeFileSync(join(directory, "command.sh"), script);
    const initrd = makeInitrd(kernel, directory);
    // Idle time is real time, because the machine also idles while it waits for a file.
    const processors = countsInstructions ? "-accel tcg,thread=single -icount shift=0 -smp 1" : "-accel tcg,thread=multi -smp 2";
    const line = `${processors} -cpu max -m ${memoryMiB} -nographic -nic none -no-reboot`;
    const share = "local,path=/,mount_tag=root,security_model=passthrough,readonly=on,multidevs=remap";
    // On a busy machine the emulated timer comes too late for the kernel's check of its interrupt, which would end in a panic.
    const append = `console=ttyS0 quiet panic=-1 no_timer_check ${kernelArguments} plexus_run=${join(directory, "command.sh")}`;
    const { program, env } = adapterEmulator ?? { program: emulator, env: {} };
    const devices = adapterEmulator === undefined ? [] : adapter;
    const machine = spawn(
      program,
      [...line.split(" "), ...devices, "-virtfs", share, "-kernel", kernel.image, "-initrd", initrd, "-append", append],
      { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, ...env } },
    );
    let tail = "";
    let status: number | undefined;
    machine.stdout.setEncoding("utf8").on("data", (text: string) => {
      show(text);
      tail = (tail + text).slice(-4096);
      const found = new RegExp(`${ended} (\\d+)`).exec(tail)?.[1];
      if (found !== undefined) status = Number(found);
    });
    await once(machine, "close");
    return status ?? `the machine ended before the command: ${tail.slice(-500)}`;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * Mounts this machine's root under an overlay in memory, and runs the script that the kernel's command line names. The last loop waits for the power-off
 * without a program, because files can no longer be read then.
 */
const init = `#!/bin/busybox sh
b=/bin/busybox
$b mkdir -p /proc /sys /dev /root /up
$b mount -t proc proc /proc; $b mount -t sysfs sys /sys; $b mount -t devtmpfs dev /dev
for m in $($b ls /m); do $b insmod /m/$m; done
$b mount -t 9p -o trans=virtio,version=9p2000.L,msize=500000,cache=loose,ro root /root
$b mount -t tmpfs -o size=75% tmpfs /up
$b mkdir /up/upper /up/work /up/all
$b mount -t overlay -o lowerdir=/root,upperdir=/up/upper,workdir=/up/work overlay /up/all
for d in proc sys dev; do $b mount --move /$d /up/all/$d; done
$b mkdir -p /up/all/dev/shm /up/all/dev/pts
$b mount -t tmpfs tmpfs /up/all/run
run=$($b sed 's/.*plexus_run=//' /up/all/proc/cmdline)
exec $b switch_root /up/all /bin/sh -c ". $run; sync; echo o >/proc/sysrq-trigger; while :; do :; done"
`;

function makeInitrd(kernel: VmKernel, directory: string): string {
  const root = join(directory, "initrd");
  for (const each of ["bin", "m"]) mkdirSync(join(root, each), { recursive: true });
  copyFileSync(kernel.busybox, join(root, "bin", "busybox"));
  // Numbered, because init loads them in the order of their file names.
  for (const [index, file] of modulesFor(kernel, bootModules).entries())
    copyFileSync(file, join(root, "m", `${String(index).padStart(2, "0")}-${basename(file)}`));
  writeFileSync(join(root, "init"), init, { mode: 0o755 });
  const files = [".", "init", "bin", "bin/busybox", "m", ...readdirSync(join(root, "m")).map((name) => `m/${name}`)];
  const archive = spawnSync(kernel.busybox, ["cpio", "-o", "-H", "newc"], {
    cwd: root,
    input: files.join("\n"),
    maxBuffer: 64 << 20,
  });
  if (archive.status !== 0) throw new Error(`cpio: ${archive.stderr.toString()}`);
  const file = join(directory, "initrd.cpio");
  writeFileSync(file, archive.stdout);
  return file;
}
