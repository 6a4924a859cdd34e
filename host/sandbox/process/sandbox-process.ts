// The brain's side of one sandbox process: starts it, speaks with it, kills it. What it says is checked like a stranger's:
// a guest that broke out of V8 would be the one who speaks.

import { spawn, type ChildProcess } from "node:child_process";
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
const mostWaiting = 64;

/** One process. After `ended` it is of no use. */
export class SandboxProcess {
  /** Keys of the components that were sent to it. */
  readonly loaded = new Set<string>();
  readonly ended: Promise<Ended>;
  uid = -1;
  private readonly child: ChildProcess;
  private readonly decoder = new FrameDecoder(controlBytes);
  private readonly waiting: Frame[] = [];
  private readonly listeners = new Set<() => void>();
  private wake: (() => void) | undefined;
  private dead: Ended | undefined;

  constructor(init: SandboxProcessInit) {
    const { node, entry, readable, memoryPages, tableEntries } = init;
    // A call's garbage is small: without the bound V8 lets a busy process' young generation grow by tens of MiB.
    const small = "--max-semi-space-size=2";
    const flags = ["--permission", `--allow-fs-read=${readable}`, "--disable-warning=ExperimentalWarning", small];
    this.child = spawn(node, [...flags, entry, String(memoryPages), String(tableEntries)], {
      cwd: "/",
      env: {},
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.ended = new Promise((resolve) => {
      const end = (reason: string) => {
        this.dead ??= { reason };
        this.wake?.();
        for (const listener of this.listeners) listener();
        resolve(this.dead);
      };
      this.child.once("error", (error) => end(`could not be started: ${error.message}`));
      this.child.once("close", (code, signal) => end(signal === null ? `ended with status ${code}` : `was ended by ${signal}`));
      this.child.stdin?.on("error", () => undefined);
      this.child.stdout?.on("error", () => undefined);
      this.child.stdout?.on("data", (chunk: Buffer) => {
        try {
          this.waiting.push(...this.decoder.push(chunk));
          // What it says faster than anybody listens stays in the pipe.
          if (this.waiting.length > mostWaiting) this.child.stdout?.pause();
        } catch (error) {
          this.kill();
          end(`broke the protocol: ${error instanceof Error ? error.message : String(error)}`);
        }
        this.wake?.();
      });
    });
  }

  /** Waits until the process is confined and listens. */
  async ready(): Promise<boolean> {
    const timer = setTimeout(() => this.kill(), startMs);
    const frame = await this.receive();
    clearTimeout(timer);
    if (frame?.type !== frameTypes.READY) {
      this.kill();
      return false;
    }
    const { json } = frame;
    if (typeof json === "object" && json !== null && "uid" in json && typeof json.uid === "number") this.uid = json.uid;
    return true;
  }

  /** The largest frame that it may send from now on. */
  allow(bytes: number): void {
    this.decoder.most = controlBytes + bytes;
  }

  send(type: number, json: unknown, raw: readonly Uint8Array[] = []): void {
    this.child.stdin?.write(encodeFrame(type, json, raw));
  }

  /** The next frame; undefined once the process has ended. */
  async receive(): Promise<Frame | undefined> {
    for (;;) {
      const frame = this.waiting.shift();
      if (frame !== undefined) return frame;
      this.child.stdout?.resume();
      if (this.dead !== undefined) return undefined;
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  /** Whether it has said anything that nobody asked for. */
  get chatters(): boolean {
    return this.waiting.length > 0;
  }

  get alive(): boolean {
    return this.dead === undefined;
  }

  /** Calls back when the process ends; answers how to take that back. */
  onEnd(callback: () => void): () => void {
    if (this.dead !== undefined) callback();
    this.listeners.add(callback);
    return () => this.listeners.delete(callback);
  }

  kill(): void {
    this.child.kill("SIGKILL");
  }
}
