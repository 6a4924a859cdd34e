// For tests: calls the real hands as a runtime does, with a brain on a unix socket that does what a test says.

import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Result } from "../../../src/fault/result.ts";
import { encodeFrame, FrameDecoder, NESTED_CHANNEL_BIT } from "../frames.ts";
import { decodeHandsMessage, encodeMessage } from "../message-frames.ts";
import type {
  BrainMessage,
  Exec,
  Executed,
  Found,
  HandsMessage,
  Content,
  Done,
  Netlink,
  Packet,
  Reply,
  Request,
  Resident,
  Sysctl,
  Tap,
} from "../messages.ts";

export interface HandsCall {
  /** The executable, or a link to it. */
  readonly hands: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
  /** False: stdin is left open. */
  readonly endStdin?: boolean;
  readonly cwd?: string;
}

export interface HandsAnswer {
  /** Null when a signal ended the hands. */
  readonly status: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningHands {
  readonly process: ChildProcess;
  readonly pid: number;
  /** When the process has ended and its pipes are closed, as go-cni waits for it. */
  readonly answer: Promise<HandsAnswer>;
}

/** Starts the hands as a runtime does. CNI_COMMAND is ADD unless given. */
export function startHands(call: HandsCall): RunningHands {
  const child = spawn(call.hands, [], {
    env: { CNI_COMMAND: "ADD", ...call.env },
    ...(call.cwd === undefined ? {} : { cwd: call.cwd }),
    stdio: ["pipe", "pipe", "pipe", "ignore", "ignore"], // a runtime that leaks descriptors 3 and 4
  });
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error("the hands were started without pipes");
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  stdout.on("data", (chunk: Buffer) => out.push(chunk));
  stderr.on("data", (chunk: Buffer) => err.push(chunk));
  stdin.on("error", () => {
    // The hands ended without reading all of it: their answer says why.
  });
  const answer = new Promise<HandsAnswer>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (status, signal) =>
      resolve({ status, signal, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() }),
    );
  });
  stdin.write(call.stdin ?? "{}");
  if (call.endStdin !== false) stdin.end();
  return { process: child, pid: child.pid ?? 0, answer };
}

function good<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new Error(result.fault.msg);
}

/** The brain's end of one connection. */
export class BrainSide {
  readonly #hands: RunningHands | undefined;
  readonly #socket: Socket;
  readonly #decoder = new FrameDecoder();
  readonly #arrived: { channel: number; message: HandsMessage }[] = [];
  readonly #waiting: { wants: (channel: number) => boolean; take: (got: { channel: number; message: HandsMessage }) => void }[] =
    [];
  #channel = 100;

  constructor(hands: RunningHands | undefined, socket: Socket) {
    this.#hands = hands;
    this.#socket = socket;
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk: Buffer) => {
      this.#decoder.push(chunk);
      for (;;) {
        const frame = good(this.#decoder.next());
        if (frame === undefined) return;
        const got = { channel: frame.channel, message: good(decodeHandsMessage(frame)) };
        const index = this.#waiting.findIndex(({ wants }) => wants(got.channel));
        if (index < 0) this.#arrived.push(got);
        else this.#waiting.splice(index, 1)[0]?.take(got);
      }
    });
  }

  #next(wants: (channel: number) => boolean): Promise<{ channel: number; message: HandsMessage }> {
    const index = this.#arrived.findIndex(({ channel }) => wants(channel));
    const [got] = index < 0 ? [] : this.#arrived.splice(index, 1);
    return got === undefined ? new Promise((take) => this.#waiting.push({ wants, take })) : Promise.resolve(got);
  }

  /** The process of the call. */
  get hands(): RunningHands {
    if (this.#hands === undefined) throw new Error("these hands were not started for a call");
    return this.#hands;
  }

  /** What resident hands say first. */
  async resident(): Promise<Resident> {
    const { message } = await this.#next((channel) => channel === 0);
    if (message.kind !== "resident") throw new Error(`${message.kind} on channel 0`);
    return message;
  }

  /** The call itself. */
  async request(): Promise<Request> {
    const { message } = await this.#next((channel) => channel === 0);
    if (message.kind !== "request") throw new Error(`${message.kind} on channel 0`);
    return message;
  }

  /** The next nested call. */
  async nested(): Promise<{ channel: number; request: Request }> {
    const { channel, message } = await this.#next((number) => number >= NESTED_CHANNEL_BIT);
    if (message.kind !== "request") throw new Error(`${message.kind} on a nested channel`);
    return { channel, request: message };
  }

  newChannel(): number {
    this.#channel += 1;
    return this.#channel;
  }

  send(channel: number, message: BrainMessage): void {
    this.#socket.write(good(encodeFrame(good(encodeMessage(channel, message)))));
  }

  /** Anything at all. */
  raw(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  end(): void {
    this.#socket.destroy();
  }

  /** Stops reading what the hands send. */
  pause(): void {
    this.#socket.pause();
  }

  async #ask<T extends HandsMessage>(kind: T["kind"], message: BrainMessage, channel = this.newChannel()): Promise<T> {
    this.send(channel, message);
    const { message: answer } = await this.#next((number) => number === channel);
    if (!isKind<T>(answer, kind)) throw new Error(`${answer.kind} instead of ${kind}`);
    return answer;
  }

  exec(effect: Partial<Omit<Exec, "kind">> & Pick<Exec, "type">, channel?: number): Promise<Executed> {
    const whole = { environment: new Map(), stdin: "", deadlineMs: 20_000, stdoutCap: 1 << 20, stderrCap: 1 << 16, ...effect };
    return this.#ask<Executed>("executed", { kind: "exec", ...whole }, channel);
  }

  find(type: string, componentFirst = false): Promise<Found> {
    return this.#ask<Found>("found", { kind: "find", type, componentFirst });
  }

  read(path: string, cap = 1 << 20): Promise<Content> {
    return this.#ask<Content>("content", { kind: "read", path, cap });
  }

  netlink(effect: Omit<Netlink, "kind">): Promise<Done> {
    return this.#ask<Done>("done", { kind: "netlink", ...effect });
  }

  sysctl(effect: Omit<Sysctl, "kind">): Promise<Done> {
    return this.#ask<Done>("done", { kind: "sysctl", ...effect });
  }

  packet(effect: Omit<Packet, "kind">): Promise<Done> {
    return this.#ask<Done>("done", { kind: "packet", ...effect });
  }

  tap(effect: Omit<Tap, "kind">): Promise<Done> {
    return this.#ask<Done>("done", { kind: "tap", ...effect });
  }

  reply(reply: Partial<Omit<Reply, "kind">> = {}, channel = 0): void {
    this.send(channel, { kind: "reply", status: 0, stdout: "", stderr: "", ...reply });
  }
}

function isKind<T extends HandsMessage>(message: HandsMessage, kind: T["kind"]): message is T {
  return message.kind === kind;
}

/** Calls the hands with a brain that does `script`; answers what the runtime gets. Replies status 0 after the script. */
export async function callWith(script: (brain: BrainSide) => Promise<void> | void, call: HandsCall): Promise<HandsAnswer> {
  const directory = mkdtempSync(join(tmpdir(), "plexus-brain-"));
  const socket = join(directory, "s");
  const server = createServer();
  try {
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    const connected = new Promise<Socket>((resolve) => server.once("connection", resolve));
    const hands = startHands({ ...call, env: { PLEXUS_SOCKET: socket, ...call.env } });
    const brain = new BrainSide(hands, await connected);
    brain.send(0, { kind: "welcome" });
    try {
      await script(brain);
      brain.reply();
      return await hands.answer;
    } finally {
      brain.end();
      hands.process.kill("SIGKILL");
    }
  } finally {
    server.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The JSON that a text is; undefined where it is none. */
export function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
