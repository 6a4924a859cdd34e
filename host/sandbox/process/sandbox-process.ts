// The brain's side of one sandbox process: starts it, speaks with it, kills it. What it says is checked like a stranger's:
// a guest that broke out of V8 would be the one who speaks.

import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { readStraight } from "../../streams/read-straight.ts";
import { FrameDecoder, encodeFrame, frameTypes, type Frame } from "./frames.ts";

export interface SandboxProcessInit {
  /** The runtime, absolute. */
  readonly node: string;
  /** The script that the process runs, absolute, and a directory that holds all that it loads. */
  readonly entry: string;
  readonly readable: string;
  readonly memoryPages: number;
  readonly tableEntries: number;
}

/** Why a process ended without being asked to. */
export interface Ended {
  readonly reason: string;
}

const startMs = 10_000;
const controlBytes = 64 * 1024;

/** One process. After `ended` it is of no use. */
export class SandboxProcess {
  /** Keys of the components that were sent to it. */
  readonly loaded = new Set<string>();
  readonly ended: Promise<Ended>;
  uid = -1;
  private readonly child: ChildProcess;
  private readonly decoder = new FrameDecoder(controlBytes);
  private readonly first = Promise.withResolvers<Frame | undefined>();
  private take: (frame: Frame) => void;
  private killed: Ended | undefined;
  private dead = false;

  constructor(init: SandboxProcessInit) {
    const { node, entry, readable, memoryPages, tableEntries } = init;
    // A call's garbage is small: without the bound V8 lets a busy process' young generation grow by tens of MiB.
    const small = "--max-semi-space-size=2";
    const flags = ["--permission", `--allow-fs-read=${readable}`, "--disable-warning=ExperimentalWarning", small];
    this.take = this.first.resolve;
    this.child = spawn(node, [...flags, entry, String(memoryPages), String(tableEntries)], {
      cwd: "/",
      env: {},
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.ended = new Promise((resolve) => {
      const end = (reason: string) => {
        this.dead = true;
        this.first.resolve(undefined);
        resolve(this.killed ?? { reason });
      };
      this.child.once("error", (error) => end(`could not be started: ${error.message}`));
      this.child.once("close", (code, signal) => end(signal === null ? `ended with status ${code}` : `was ended by ${signal}`));
      this.child.stdin?.on("error", () => undefined);
      this.child.stdout?.on("error", () => undefined);
      if (this.child.stdout !== null) readStraight(this.child.stdout, (chunk) => this.heard(chunk));
    });
  }

  /** Waits until the process is confined and listens. */
  async ready(): Promise<boolean> {
    const timer = setTimeout(() => this.kill("did not start in time"), startMs);
    const frame = await this.first.promise;
    clearTimeout(timer);
    if (frame?.type !== frameTypes.READY) {
      this.kill("did not say that it is ready");
      return false;
    }
    const { json } = frame;
    if (typeof json === "object" && json !== null && "uid" in json && typeof json.uid === "number") this.uid = json.uid;
    return true;
  }

  /** CPU time of the thread that runs guests, in ms; undefined where the kernel doesn't tell us. */
  ranMs(): number | undefined {
    try {
      // Of the process' first thread: nanoseconds on a CPU, nanoseconds that it waited for one, stretches.
      const ran = Number(readFileSync(`/proc/${this.child.pid}/schedstat`, "utf8").split(" ")[0]);
      return Number.isFinite(ran) ? ran / 1e6 : undefined;
    } catch {
      return undefined;
    }
  }

  /** The largest frame that it may send from now on. */
  allow(bytes: number): void {
    this.decoder.most = controlBytes + bytes;
  }

  /** Gives what it says from now on to `take`, each frame as it comes, so that nothing piles up; nothing after it was killed. */
  listen(take: (frame: Frame) => void): void {
    this.take = take;
  }

  send(type: number, call: number, json: unknown, raw: readonly Uint8Array[] = []): void {
    this.child.stdin?.write(encodeFrame(type, call, json, raw));
  }

  get alive(): boolean {
    return !this.dead && this.killed === undefined;
  }

  /** Ends it; `reason` continues "its sandbox process, which …". */
  kill(reason: string): void {
    this.killed ??= { reason };
    this.child.kill("SIGKILL");
  }

  private heard(chunk: Buffer): void {
    if (!this.alive) return;
    try {
      for (const frame of this.decoder.push(chunk)) if (this.alive) this.take(frame);
    } catch (error) {
      this.kill(`broke the protocol: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
