// Fuzzes the shim with an engine that sends random messages: all kinds of effects on any channel, some with a changed byte.
// Streams end early, and nested callers send invalid requests. The shim must neither crash nor hang nor exit.

import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server, Socket } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

import { shimSources, LANGUAGE_FLAGS } from "../../../host/shim/build.ts";
import { encodeFrame, NESTED_CHANNEL_BIT } from "../../../host/protocol/frames.ts";
import { encodeMessage } from "../../../host/protocol/message-codec.ts";
import type { EngineMessage, ShimMessage } from "../../../host/protocol/messages.ts";
import { askKeyBytes } from "../../../host/protocol/network-fields.ts";
import { testSeed } from "../../lab/random-from.ts";
import { startAgent } from "../../lab/agent.ts";

const seed = testSeed("fuzzing the shim", 1);
const connections = 60;
const framesOfEach = 40;
const policy = JSON.stringify({
  plugins: ["fast", "nested-*", "n*"],
  nodeNetlink: ["route/getlink"],
  nodeSysctls: ["net/ipv4/*"],
  podSysctls: ["net/*/*"],
  taps: ["t*t"],
  asks: ["a*", "dhcp"],
});

let directory = "";
let program = "";
let server: Server;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "plexus-shim-fuzz-"));
  program = join(directory, "plexus");
  // The policy refuses some of the messages, so that its checks run, too.
  writeFileSync(at("policy.json"), policy, { mode: 0o644 });
  chmodSync(directory, 0o755);
  const defined = ['PLEXUS_VERSION="0.0.0"', "NESTED_MS=50", "RECONNECT_MS=5", `POLICY_FILE="${at("policy.json")}"`].map(
    (each) => `-D${each}`,
  );
  const flags = [...LANGUAGE_FLAGS, "-g", ...defined, "-o", program];
  const sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
  const built = [sanitizers, []].some((more) => spawnSync("cc", [...flags, ...more, ...shimSources()]).status === 0);
  if (!built) throw new Error("the shim does not compile");
  const script = (name: string, text: string): void => writeFileSync(at(name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  script("fast", "echo hi");
  script("cat", "cat");
  script("nested-calls", '"${CNI_PATH%%:*}/comp" & echo "x" >&2');
  writeFileSync(at("comp.wasm"), Buffer.concat([Buffer.from([0, 0x61, 0x73, 0x6d, 13, 0, 1, 0]), Buffer.alloc(1000)]));
  server = createServer().listen(at("s"));
  await once(server, "listening");
});
afterAll(() => {
  server.close();
  rmSync(directory, { recursive: true, force: true });
});

/** A queue of connections in the order of their arrival; each `next` takes one. */
class Arrivals {
  readonly #queued: Socket[] = [];
  readonly #waiting: ((socket: Socket) => void)[] = [];

  constructor(on: Server) {
    on.on("connection", (socket) => {
      socket.on("error", () => undefined).resume();
      const waiter = this.#waiting.shift();
      if (waiter === undefined) this.#queued.push(socket);
      else waiter(socket);
    });
  }

  next(): Promise<Socket> {
    const socket = this.#queued.shift();
    return socket === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(socket);
  }
}

const at = (name: string): string => join(directory, name);
const nestedName = (digit: number): string => String(digit).repeat(16);

/** Pseudorandom numbers (mulberry32). */
function numbers(from: number): (below: number) => number {
  let state = from;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

class Chaos {
  readonly below: (below: number) => number;

  constructor(from: number) {
    this.below = numbers(from);
  }

  one<T>(of: readonly T[]): T {
    const chosen = of[this.below(of.length)];
    if (chosen === undefined) throw new Error("the list of choices is empty");
    return chosen;
  }

  /** A channel, usually one that is valid for the message's kind. */
  channelOf({ kind }: EngineMessage): number {
    const [effect, nested] = [1 + this.below(40), NESTED_CHANNEL_BIT + 1 + this.below(50)];
    if (this.below(40) === 0) return this.one([effect, nested, 0]);
    return kind === "reply" ? nested : effect;
  }

  message(): EngineMessage {
    const environment = new Map([
      ["CNI_COMMAND", "ADD"],
      ...this.one([[], [], [["TRACEPARENT", "00"]], [["CNI_NETNS", ""]]] as const),
      // Ends the connection, as a malformed frame does.
      ...(this.below(60) === 0 ? this.one([[["LD_PRELOAD", "/x.so"]], [["CNI_PATH", "/"]], [["PATH", "/"]]] as const) : []),
    ]);
    const effects = [
      () => ({
        kind: "exec" as const,
        type: this.one(["fast", "cat", "nested-calls", "none", "comp", "", "a/b", "x".repeat(300)]),
        environment,
        stdin: "y".repeat(this.below(this.one([10, 300_000]))),
        deadlineMs: this.one([0, 1, 5, 30, 500]),
        stdoutCap: this.one([0, 1, 10, 1 << 20, 0xffff_ffff]),
        stderrCap: this.below(100),
        nestedCallDirectory: this.one([nestedName(this.below(5)), "../n", `call-${"1".repeat(this.below(120))}`, directory, ""]),
      }),
      () => ({ kind: "find" as const, type: this.one(["fast", "comp", "none", ""]), componentFirst: this.below(2) === 1 }),
      () => ({
        kind: "read" as const,
        path: this.one([at("comp.wasm"), at("fast"), "/etc/passwd", "", at("../comp.wasm"), "/".repeat(5000)]),
        cap: this.one([0, 10, 2000, 0xffff_ffff]),
      }),
      () => ({
        kind: "netlink" as const,
        path: this.namespace(),
        ...this.one([{}, { protocol: "netfilter" as const }]),
        request: this.netlink(),
        deadlineMs: this.one([0, 1, 100]),
        second: this.one(["", "/proc/self/ns/net", "/nowhere", "/etc/passwd"]),
        allowsOwn: this.below(2) === 1,
      }),
      () => ({ kind: "sysctl" as const, path: this.namespace(), settings: this.some(() => this.setting()) }),
      () => ({
        kind: "packet" as const,
        path: this.namespace(),
        index: this.one([0, 1, 0xffff_ffff]),
        packets: this.some(() => ({
          ethertype: this.below(65_536),
          destination: Buffer.alloc(6, this.below(256)),
          payload: new Uint8Array(this.one([0, 28, 1500, 1501])),
        })),
      }),
      () => ({
        kind: "tap" as const,
        path: this.one(["/nowhere", "/etc/passwd", "/proc/self/ns/net"]),
        name: "t".repeat(this.below(20)),
        multiQueue: this.below(2) === 1,
      }),
      () => {
        const answers = this.one(["arp", "neighbour", "dhcp", "echo", "echo6"] as const);
        return {
          kind: "ask" as const,
          path: this.namespace(),
          index: this.one([0, 1, 0xffff_ffff]),
          answers,
          keys: this.some(() => new Uint8Array(askKeyBytes[answers])),
          packets: this.some(() => ({ ethertype: 2054, destination: Buffer.alloc(6, 255), payload: new Uint8Array(28) })),
          deadlineMs: this.one([0, 1, 50, 0xffff_ffff]),
          maxAnswers: this.one([0, 1, 64, 65]),
        };
      },
      () => ({ kind: "reply" as const, status: this.below(300), stdout: "z".repeat(this.below(1000)), stderr: "" }),
    ];
    return this.one(effects)();
  }

  namespace(): string {
    return this.one(["", "/proc/self/ns/net", "/nowhere", "/etc/passwd"]);
  }

  /** Usually a few values, sometimes more than the limit. */
  some<T>(make: () => T): readonly T[] {
    return Array.from({ length: this.one([0, 1, 2, 5, 65]) }, make);
  }

  /** A sysctl to read, never to write, because the namespace may be the machine's. */
  setting(): { readonly key: string; readonly value: string } {
    const key = this.one([
      "net/ipv4/ip_forward",
      "net/ipv4/conf",
      "net/../kernel/hostname",
      "kernel/hostname",
      "net//core",
      "",
      "net/none",
    ]);
    return { key, value: "" };
  }

  /** A request to dump all links, sometimes altered. */
  netlink(): Uint8Array {
    const message = Buffer.alloc(32);
    message.writeUInt32LE(this.one([32, 32, 16, 31, 33, 0]), 0);
    message.writeUInt16LE(18, 4);
    message.writeUInt16LE(this.one([0x305, 0x305, 0x301, 5]), 6);
    return message.subarray(0, this.one([32, 32, this.below(33)]));
  }

  /** The bytes of a message, sometimes with one byte changed. */
  bytes(channel: number, message: EngineMessage | ShimMessage, changes = 60): Uint8Array {
    const frame = encodeMessage(channel, message);
    const encoded = frame.ok ? encodeFrame(frame.value) : frame;
    if (!encoded.ok) throw new Error(encoded.fault.msg);
    const bytes = Uint8Array.from(encoded.value);
    if (this.below(changes) === 0) bytes[this.below(bytes.length)] = this.below(256);
    return bytes;
  }
}

/** The nested-call directories of the shim: only its descriptors lead to them. */
function nestedCallDirectories(pid: number): readonly string[] {
  const roots = readdirSync(`/proc/${pid}/fd`).map((fd) => `/proc/${pid}/fd/${fd}`);
  return roots
    .flatMap((root) => [0, 1, 2, 3, 4].map((digit) => `${root}/${nestedName(digit)}`))
    .filter((path) => existsSync(path));
}

/** Sends a possibly invalid request through a nested-call directory, if one exists. */
function callNested(chaos: Chaos, pid: number): void {
  const directories = nestedCallDirectories(pid);
  if (directories.length === 0) return;
  const caller = connect(`${chaos.one(directories)}/.sock`);
  caller.on("error", () => undefined);
  const stdin = new Uint8Array(chaos.below(100));
  const request = { kind: "request", name: "n", environment: new Map(), stdin, under: chaos.one([0, 0, 0, 7]) } as const;
  for (let times = chaos.below(3); times > 0; times--) caller.write(chaos.bytes(0, request, 4));
  setTimeout(() => caller.destroy(), chaos.below(100));
}

test(`the shim survives ${connections} engines that send random messages (seed ${seed})`, async () => {
  const chaos = new Chaos(seed);
  const arrivals = new Arrivals(server);
  const shim = startAgent({
    command: program,
    env: {
      PLEXUS_SOCKET: at("s"),
      CNI_PATH: directory,
      PATH: "/usr/bin:/bin",
      ASAN_OPTIONS: "detect_leaks=0",
    },
  });
  let ended: number | string | null | undefined;
  void shim.ended.then((how) => (ended = how));
  for (let round = 0; round < connections; round++) {
    const engine = await Promise.race([arrivals.next(), shim.ended]);
    expect([ended, shim.stderr()]).toEqual([undefined, expect.not.stringContaining("Sanitizer")]);
    if (!(engine instanceof Socket)) throw new Error("the shim has ended");
    for (let frame = 0; frame < framesOfEach && !engine.destroyed; frame++) {
      const message = chaos.message();
      const bytes = chaos.bytes(chaos.channelOf(message), message);
      const cut = chaos.one([0, chaos.below(bytes.length)]);
      engine.write(bytes.subarray(0, cut));
      engine.write(bytes.subarray(cut));
      if (chaos.below(4) === 0) callNested(chaos, shim.pid);
      if (chaos.below(8) === 0) await new Promise((resolve) => setTimeout(resolve, chaos.below(20)));
    }
    engine.destroy();
  }
  await arrivals.next();
  // The shim has stopped the last engine's plugins.
  expect(nestedCallDirectories(shim.pid)).toEqual([]);
  expect(await shim.stop()).toBe(0);
});
