// The engine's side of one sandbox process: starts it, exchanges frames with it, kills it. Its frames are untrusted: a guest that broke out
// of V8 could have written them.

import { spawn, type ChildProcess } from "node:child_process";
import { readUnbuffered } from "../../system/node-internals.ts";
import { containerMemoryBytes } from "../launcher/container-memory.ts";
import { type Control, missingText } from "../launcher/controls.ts";
import { type Jail, launcherArguments, maxThreads, type ProgramOfJail } from "../launcher/jail.ts";
import { askArguments } from "../launcher/launch-server.ts";
import { readLaunched } from "../launcher/launched.ts";
import { memoryBounds, type ProcessBytes } from "./memory-bounds.ts";
import { threadCpuMs } from "./thread-cpu.ts";
import { FrameDecoder, encodeFrame, frameTypes, type Frame } from "./frames.ts";

/** The script of a sandbox process. */
export interface GuestScript {
  /** Absolute path of Node. */
  readonly node: string;
  /** Absolute path of the script. */
  readonly entry: string;
  /** The directory that the process may read: it contains all files that the script loads. */
  readonly readable: string;
}

/** Settings for the start of a sandbox process. */
export interface ProcessSettings extends GuestScript {
  readonly memoryPages: number;
  readonly tableEntries: number;
  /** The memory that the process may have; absent: as the engine's container permits. */
  readonly bytes?: ProcessBytes | undefined;
  /** Undefined: without a jail, for comparisons in the benchmark. */
  readonly jail: Jail | undefined;
  /** Whether the process is to be a copy of the launch server's zygote. */
  readonly isCopy?: boolean;
}

/** The end of a process; `reason` continues "its sandbox process, which …". */
export interface Ended {
  readonly reason: string;
}

const maxStartMs = 10_000;
/** The environment that the launcher gives to the program. */
const oneArena = { MALLOC_ARENA_MAX: "1" };
/** Bytes of a frame beyond the guest's own limits. */
const overheadBytes = 64 * 1024;
/** Resident memory of Node beside its private memory: pages of its program, which a cgroup counts for the process that reads them first. */
const sharedBytes = 96 * 1024 * 1024;

/** The program of sandbox processes. The pages of memory and the entries of tables follow as its last arguments. */
export function guestProgram({ node, entry, readable }: GuestScript): ProgramOfJail {
  // A call makes little garbage. Without the bound, V8 lets the young generation of a busy process grow by tens of MiB.
  const heapFlag = "--max-semi-space-size=2";
  // OpenSSL skips a configuration that does not exist, and ends Node for one that it may not read.
  const opensslFlag = "--openssl-config=/nonexistent/openssl.cnf";
  const warningFlag = "--disable-warning=ExperimentalWarning";
  const flags = ["--permission", `--allow-fs-read=${readable}`, warningFlag, heapFlag, opensslFlag];
  return { command: [node, ...flags, entry], readable };
}

/** One sandbox process. */
export class SandboxProcess {
  /** Keys of the components that were sent to the process. */
  readonly loaded = new Set<string>();
  readonly ended: Promise<Ended>;
  /** The process' uid in the engine's user namespace; -1 until the process has started. */
  uid = -1;
  /** The controls of the jail that hold. */
  controls: ReadonlySet<Control> = new Set();
  /** The process' pid in the engine's pid namespace. With a jail, the engine's child is the launcher, which waits for the process. */
  pid: number | undefined;
  /** Whether the process is a copy of the launch server's zygote. */
  readonly isCopy: boolean;
  readonly #child: ChildProcess;
  readonly #decoder = new FrameDecoder(overheadBytes);
  readonly #first = Promise.withResolvers<Frame | undefined>();
  #onFrame: (frame: Frame) => void;
  #killed: Ended | undefined;
  #hasEnded = false;

  constructor(settings: ProcessSettings) {
    const { node, entry, readable, memoryPages, tableEntries, jail, isCopy = false } = settings;
    this.isCopy = isCopy;
    const bytes = settings.bytes ?? memoryBounds(containerMemoryBytes()).ofProcess(memoryPages);
    const numbers = [memoryPages, tableEntries];
    const { command: fixed } = guestProgram({ node, entry, readable });
    const command = [...fixed, ...numbers.map(String)] as const;
    const memoryBytes = bytes.writable;
    const cgroup = jail?.cgroups?.add({ memoryBytes: bytes.resident + sharedBytes, maxTasks: maxThreads });
    const asked = { memoryBytes, cgroup: cgroup?.directory };
    const [program, args] =
      jail === undefined
        ? [node, command.slice(1)]
        : jail.server === undefined
          ? [jail.launcher, launcherArguments(jail, { command, readable, ...asked })]
          : [jail.launcher, askArguments({ ...asked, numbers, isCopy })];
    const server = jail?.server === undefined ? [] : [jail.server.descriptor];
    this.#onFrame = jail === undefined ? this.#first.resolve : (frame) => this.#receivedReport(jail, frame);
    this.#child = spawn(program, args, {
      cwd: "/",
      env: jail === undefined ? oneArena : {},
      stdio: ["pipe", "pipe", "ignore", ...server],
    });
    if (jail === undefined) this.pid = this.#child.pid;
    this.ended = new Promise((resolve) => {
      const end = (reason: string) => {
        this.#hasEnded = true;
        cgroup?.remove();
        this.#first.resolve(undefined);
        resolve(this.#killed ?? { reason });
      };
      // Also if the launcher, as another user, cannot be signalled. The launcher then ends the process when its stdin closes.
      this.#child.on("error", (error) => end(`could not be started: ${error.message}`));
      this.#child.once("close", (code, signal) => end(signal === null ? `ended with status ${code}` : `was ended by ${signal}`));
      this.#child.stdin?.on("error", () => undefined);
      this.#child.stdout?.on("error", () => undefined);
      if (this.#child.stdout !== null) readUnbuffered(this.#child.stdout, (chunk) => this.#received(chunk));
    });
  }

  /** Waits for READY. False: the process did not start, and is killed. */
  async ready(): Promise<boolean> {
    const timer = setTimeout(() => this.kill("did not start in time"), maxStartMs);
    const frame = await this.#first.promise;
    clearTimeout(timer);
    if (frame?.type === frameTypes.READY) return true;
    const failed = frame?.type === frameTypes.LAUNCHED ? readLaunched(frame.json) : undefined;
    this.kill(typeof failed === "string" ? `could not be started: ${failed}` : "did not report that it is ready");
    return false;
  }

  /** CPU time of the thread that runs guests, in ms; undefined if the kernel does not report it. */
  cpuMs(): number | undefined {
    return this.pid === undefined ? undefined : threadCpuMs(this.pid);
  }

  /** Sets the maximum size of the process' frames: `bytes`, and a fixed overhead. */
  limitFrames(bytes: number): void {
    this.#decoder.maxBytes = overheadBytes + bytes;
  }

  /** Passes every later frame to `onFrame`, until the process is killed. */
  listen(onFrame: (frame: Frame) => void): void {
    this.#onFrame = onFrame;
  }

  /** Sends a frame. */
  send(type: number, call: number, json: unknown, raw: readonly Uint8Array[] = []): void {
    this.#child.stdin?.write(encodeFrame(type, call, json, raw));
  }

  /** Bytes of frames that wait, because the process does not read. */
  get unreadBytes(): number {
    return this.#child.stdin?.writableLength ?? 0;
  }

  get isAlive(): boolean {
    return !this.#hasEnded && this.#killed === undefined;
  }

  /** Kills the process; `reason` continues "its sandbox process, which …". */
  kill(reason: string): void {
    this.#killed ??= { reason };
    this.#child.kill("SIGKILL");
    this.#child.stdin?.destroy();
  }

  /** The launcher's report, which comes before the first frame of the process. */
  #receivedReport({ required }: Jail, frame: Frame): void {
    this.#onFrame = this.#first.resolve;
    const report = frame.type === frameTypes.LAUNCHED ? readLaunched(frame.json) : "the launcher sent no report";
    if (typeof report === "string") {
      this.kill(`could not be started: ${report}`);
      return;
    }
    this.pid = report.pid;
    this.uid = report.uid;
    this.controls = report.controls;
    const missing = required.filter((control) => !report.controls.has(control));
    if (missing.length > 0) this.kill(`is not used, because its jail lacks ${missingText(missing)}`);
  }

  #received(chunk: Buffer): void {
    if (!this.isAlive) return;
    try {
      for (const frame of this.#decoder.push(chunk)) if (this.isAlive) this.#onFrame(frame);
    } catch (error) {
      this.kill(`broke the protocol: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
