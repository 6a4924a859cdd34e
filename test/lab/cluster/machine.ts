// The machine of a node: PID, mount, UTS, IPC and network namespaces with a file system of their own. The node's programs see the real
// /usr read-only, and directories of the test as /etc, /opt, /var and /run. The death of the first process ends every process of the
// machine, and the first process ends with the test, even after SIGKILL.

import { spawn, spawnSync, execFileSync, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { childrenOf, signalled } from "../processes.ts";
import { builtOnce, root } from "../compiled.ts";
import { testCache } from "../debian-packages.ts";
import { endChild, startChild } from "../kube/child.ts";
import type { Finished, PodNamespace } from "../namespaces.ts";
import { makeCgroups, removeCgroups } from "./cgroups.ts";

export interface Machine {
  /** The directory whose etc, opt and var are the machine's. A reboot keeps them. */
  readonly disk: string;
  /** The machine's /run. A reboot empties it. */
  readonly run: string;
  /** The cgroup below which the kubelet makes the pods' cgroups. */
  readonly cgroup: string;
  /** The path by which this process reads `path` of the machine. Mounts made by the machine are visible there. */
  path(path: string): string;
  /** Runs a program in all namespaces of the machine. Default timeout: one minute. */
  exec(
    command: readonly [string, ...string[]],
    init?: { readonly stdin?: Buffer | string; readonly timeoutMs?: number },
  ): Finished;
  /** Starts a server in the machine. Its output is appended to `log`. The server ends with the child. */
  start(command: readonly [string, ...string[]], log: string): ChildProcess;
  /** Kills every process of the machine: the power is cut. `boot` starts the machine again. */
  cut(): Promise<void>;
  /** Starts the machine, in the network namespace `network`. */
  boot(network: PodNamespace): Promise<void>;
  dispose(): Promise<void>;
}

/** PATH of the machine's programs. */
const machinePath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const bootMs = 60_000;

/** The cgroup of a machine whose files lie in `directory`, below a directory with a unique name. */
export const cgroupOf = (directory: string): string => `/${basename(dirname(directory))}-${basename(directory)}`;

/** Makes the files of a machine below `directory`. `boot` starts it. */
export function makeMachine(name: string, directory: string, programDirectories: readonly string[]): Machine {
  const disk = join(directory, "disk");
  const run = mkdtempSync("/run/plexus-node-");
  const cgroup = cgroupOf(directory);
  const init = builtInit();
  makeDisk(disk, name);
  // containerd, runc and the kubelet collect garbage less often, as the other servers in Go (startChild).
  const environment = [`PATH=${[machinePath, ...programDirectories].join(":")}`, "HOME=/root", "LANG=C.UTF-8", "GOGC=400"];
  let unshared: ChildProcess | undefined;
  let first = 0;
  const entering = (): readonly string[] => {
    const namespaces = ["--target", String(first), "--mount", "--uts", "--ipc", "--net", "--pid"];
    return [...namespaces, "--", "setpriv", "--pdeathsig", "KILL", "--", "env", "-i", "--chdir=/", ...environment];
  };
  const cut = async (): Promise<void> => {
    if (first !== 0) signalled(first, "SIGKILL");
    if (unshared !== undefined && unshared.exitCode === null && unshared.signalCode === null)
      await new Promise((resolve) => unshared?.once("exit", resolve));
    first = 0;
    await removeCgroups(cgroup);
  };
  return {
    disk,
    run,
    cgroup,
    path: (path) => `/proc/${first}/root${path}`,
    exec(command, { stdin, timeoutMs = 60_000 } = {}) {
      const finished = spawnSync("nsenter", [...entering(), ...command], {
        encoding: "utf8",
        timeout: timeoutMs,
        killSignal: "SIGKILL",
        maxBuffer: 64 << 20,
        ...(stdin === undefined ? {} : { input: stdin }),
      });
      const { status, stdout, stderr, error } = finished;
      return {
        status: status ?? 255,
        stdout: stdout ?? "",
        stderr: `${stderr ?? ""}${error === undefined ? "" : String(error)}`,
      };
    },
    start: (command, log) => startChild("nsenter", [...entering(), ...command], log),
    cut,
    async boot(network) {
      rmSync(run, { recursive: true, force: true });
      for (const each of [run, join(run, "netns"), join(run, "lock")]) mkdirSync(each);
      makeCgroups(cgroup);
      const shown = [root, testCache].filter((each) => existsSync(each));
      const script = join(root, "test", "lab", "cluster", "machine.sh");
      const namespaces = ["--pid", "--fork", "--kill-child=SIGKILL", "--mount", "--uts", "--ipc", "--propagation", "private"];
      const command = ["env", "-i", ...environment, "sh", script, name, disk, run, `${cgroup}/node`, init, ...shown];
      const entered = ["nsenter", `--net=${network.path}`, "--", "unshare", ...namespaces, ...command];
      unshared = spawn("setpriv", ["--pdeathsig", "KILL", "--", ...entered], { stdio: ["ignore", "pipe", "pipe"] });
      await booted(unshared, name);
      first = childrenOf(unshared.pid ?? 0)[0] ?? 0;
      if (first === 0) throw new Error(`${name} has no first process`);
    },
    async dispose() {
      await cut();
      for (const each of [directory, run]) rmSync(each, { recursive: true, force: true });
    },
  };
}

/** Waits for the script's line `ready`. */
async function booted(child: ChildProcess, name: string): Promise<void> {
  let errors = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    errors += chunk.toString("utf8");
  });
  try {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${name} did not boot within ${bootMs} ms`)), bootMs);
      child.stdout?.on("data", (chunk: Buffer) => {
        if (chunk.toString("utf8").includes("ready")) resolve();
      });
      child.once("close", (status) => reject(new Error(`${name} ended with status ${status} while it booted`)));
      child.once("spawn", () => child.once("close", () => clearTimeout(timer)));
      child.stdout?.once("data", () => clearTimeout(timer));
    });
  } catch (error) {
    await endChild(child);
    throw new Error(`${String(error)}: ${errors.trim().slice(-500)}`, { cause: error });
  }
}

function builtInit(): string {
  const source = join(root, "test", "lab", "cluster", "init.c");
  return builtOnce("node-init", [readFileSync(source, "utf8")], (output) => {
    execFileSync("cc", ["-static", "-Os", "-s", "-o", output, source], { stdio: ["ignore", "inherit", "inherit"] });
  });
}

/** Files of /etc that programs of a node read. /etc/alternatives leads to iptables on Debian. */
const systemFiles = ["alternatives", "group", "ld.so.cache", "nsswitch.conf", "passwd", "protocols", "services"];

function makeDisk(disk: string, name: string): void {
  const directories = ["etc/cni/net.d", "etc/kubernetes", "opt/cni/bin", "var/lib", "var/log", "var/tmp"];
  for (const each of directories) mkdirSync(join(disk, each), { recursive: true });
  for (const each of systemFiles) {
    const source = join("/etc", each);
    if (existsSync(source)) cpSync(source, join(disk, "etc", each), { recursive: true, verbatimSymlinks: true });
  }
  symlinkSync("/run", join(disk, "var", "run"));
  symlinkSync("../usr/lib/os-release", join(disk, "etc", "os-release"));
  writeFileSync(join(disk, "etc", "hosts"), `127.0.0.1 localhost\n127.0.1.1 ${name}\n`);
  writeFileSync(join(disk, "etc", "hostname"), `${name}\n`);
  writeFileSync(join(disk, "etc", "resolv.conf"), "");
  writeFileSync(join(disk, "etc", "machine-id"), `${randomBytes(16).toString("hex")}\n`);
}
