// For tests: calls the real shim as a runtime does, with an engine on a unix socket that does what a test says.

import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Result } from "../../../../src/fault/result.ts";
import { encodeFrame, FrameDecoder, NESTED_CHANNEL_BIT } from "../../../../host/protocol/frames.ts";
import { decodeShimMessage, encodeMessage } from "../../../../host/protocol/message-codec.ts";
import type {
  AgentGreeting,
  Ask,
  CallAnswer,
  Changes,
  Zone,
  Content,
  Done,
  EngineMessage,
  Exec,
  Executed,
  Found,
  LabelledTap,
  Netlink,
  Packet,
  Request,
  ShimMessage,
  Sysctl,
  Tap,
} from "../../../../host/protocol/messages.ts";

/** A call of the shim by a test. */
export interface ShimCall {
  /** The executable, or a link to it. */
  readonly shim: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
  /** False: stdin is left open. */
  readonly endStdin?: boolean;
  readonly cwd?: string;
  /** Path of the network namespace in which the shim runs, as on a node of its own; without it the tests' namespace. */
  readonly netns?: string;
}

/** The shim's answer to a runtime: exit status and output. */
export interface ShimAnswer {
  /** Null if a signal ended the shim. */
  readonly status: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running process of the shim. */
export interface RunningShim {
  readonly process: ChildProcess;
  readonly pid: number;
  /** Resolves when the process has ended and its pipes are closed: go-cni waits for both. */
  readonly answer: Promise<ShimAnswer>;
}

/** Starts the shim as a runtime does. The default CNI_COMMAND is ADD; PATH leads to the system's programs. */
export function startShim(call: ShimCall): RunningShim {
  const [program, args] = call.netns === undefined ? [call.shim, []] : ["nsenter", [`--net=${call.netns}`, call.shim]];
  const child = spawn(program, args, {
    env: { CNI_COMMAND: "ADD", PATH: "/bin:/usr/bin", ...call.env },
    ...(call.cwd === undefined ? {} : { cwd: call.cwd }),
    stdio: ["pipe", "pipe", "pipe", "ignore", "ignore"], // a runtime that leaks descriptors 3 and 4
  });
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error("the shim was started without pipes");
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  stdout.on("data", (chunk: Buffer) => out.push(chunk));
  stderr.on("data", (chunk: Buffer) => err.push(chunk));
  stdin.on("error", () => {
    // The shim ended without reading all of stdin: its answer says why.
  });
  const answer = new Promise<ShimAnswer>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (status, signal) =>
      resolve({ status, signal, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() }),
    );
  });
  stdin.write(call.stdin ?? "{}");
  if (call.endStdin !== false) stdin.end();
  return { process: child, pid: child.pid ?? 0, answer };
}

function succeeded<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new Error(result.fault.msg);
}

/** The engine's end of one connection. */
export class EngineSide {
  readonly #shim: RunningShim | undefined;
  readonly #socket: Socket;
  readonly #decoder = new FrameDecoder();
  readonly #arrived: { channel: number; message: ShimMessage }[] = [];
  readonly #waiting: { wants: (channel: number) => boolean; take: (got: { channel: number; message: ShimMessage }) => void }[] =
    [];
  #channel = 100;

  constructor(shim: RunningShim | undefined, socket: Socket) {
    this.#shim = shim;
    this.#socket = socket;
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk: Buffer) => {
      this.#decoder.push(chunk);
      for (;;) {
        const frame = succeeded(this.#decoder.next());
        if (frame === undefined) return;
        const got = { channel: frame.channel, message: succeeded(decodeShimMessage(frame)) };
        const index = this.#waiting.findIndex(({ wants }) => wants(got.channel));
        if (index < 0) this.#arrived.push(got);
        else this.#waiting.splice(index, 1)[0]?.take(got);
      }
    });
  }

  #next(wants: (channel: number) => boolean): Promise<{ channel: number; message: ShimMessage }> {
    const index = this.#arrived.findIndex(({ channel }) => wants(channel));
    const [got] = index < 0 ? [] : this.#arrived.splice(index, 1);
    return got === undefined ? new Promise((take) => this.#waiting.push({ wants, take })) : Promise.resolve(got);
  }

  /** The process of the call. */
  get shim(): RunningShim {
    if (this.#shim === undefined) throw new Error("no shim was started for this connection");
    return this.#shim;
  }

  /** The agent's greeting. */
  async agent(): Promise<AgentGreeting> {
    const { message } = await this.#next((channel) => channel === 0);
    if (message.kind !== "agent") throw new Error(`${message.kind} on channel 0`);
    return message;
  }

  /** The runtime's call. */
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

  send(channel: number, message: EngineMessage): void {
    this.#socket.write(succeeded(encodeFrame(succeeded(encodeMessage(channel, message)))));
  }

  /** Sends arbitrary bytes. */
  raw(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  end(): void {
    this.#socket.destroy();
  }

  /** Stops reading what the shim sends. */
  pause(): void {
    this.#socket.pause();
  }

  async #ask<T extends ShimMessage>(kind: T["kind"], message: EngineMessage, channel = this.newChannel()): Promise<T> {
    this.send(channel, message);
    const { message: answer } = await this.#next((number) => number === channel);
    if (!isKind<T>(answer, kind)) throw new Error(`${answer.kind} instead of ${kind}`);
    return answer;
  }

  exec(effect: Partial<Omit<Exec, "kind">> & Pick<Exec, "type">, channel?: number): Promise<Executed> {
    const whole = { environment: new Map(), stdin: "", deadlineMs: 600_000, stdoutCap: 1 << 20, stderrCap: 1 << 16, ...effect };
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

  labelledTap(effect: Omit<LabelledTap, "kind">): Promise<Done> {
    return this.#ask<Done>("done", { kind: "labelled-tap", ...effect });
  }

  ask(effect: Omit<Ask, "kind">, channel?: number): Promise<Done> {
    return this.#ask<Done>("done", { kind: "ask", ...effect }, channel);
  }

  changes(effect: Omit<Changes, "kind">, channel?: number): Promise<Done> {
    return this.#ask<Done>("done", { kind: "changes", ...effect }, channel);
  }

  zone(effect: Omit<Zone, "kind">, channel?: number): Promise<Done> {
    return this.#ask<Done>("done", { kind: "zone", ...effect }, channel);
  }

  reply(reply: Partial<CallAnswer> = {}, channel = 0): void {
    this.send(channel, { kind: "reply", status: 0, stdout: "", stderr: "", ...reply });
  }
}

function isKind<T extends ShimMessage>(message: ShimMessage, kind: T["kind"]): message is T {
  return message.kind === kind;
}

/** Calls the shim with an engine that runs `script` and then replies with status 0. Answers what the runtime gets. */
export async function callWith(script: (engine: EngineSide) => Promise<void> | void, call: ShimCall): Promise<ShimAnswer> {
  const directory = mkdtempSync(join(tmpdir(), "plexus-engine-"));
  const socket = join(directory, "s");
  const server = createServer();
  try {
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    const connected = new Promise<Socket>((resolve) => server.once("connection", resolve));
    const shim = startShim({ ...call, env: { PLEXUS_SOCKET: socket, ...call.env } });
    const engine = new EngineSide(shim, await connected);
    engine.send(0, { kind: "welcome" });
    try {
      await script(engine);
      engine.reply();
      return await shim.answer;
    } finally {
      engine.end();
      shim.process.kill("SIGKILL");
    }
  } finally {
    server.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Parses a text as JSON; undefined where it is invalid. */
export function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
