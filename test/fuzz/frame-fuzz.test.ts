// Fuzzes the shim's frame parser: always with a fixed set of inputs, and with libFuzzer if clang has it.

import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { LANGUAGE_FLAGS } from "../../host/shim/build.ts";
import { encodeFrame, PROTOCOL_VERSION } from "../../host/protocol/frames.ts";
import { encodeMessage } from "../../host/protocol/message-frames.ts";
import type { EngineMessage, ShimMessage } from "../../host/protocol/messages.ts";

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const shim = fileURLToPath(new URL("../../host/shim", import.meta.url));
const target = ["-iquote", shim, here("frame-fuzz.c"), join(shim, "frame.c"), join(shim, "buffer.c")];
const seconds = Number(process.env["PLEXUS_FUZZ_SECONDS"] ?? 60);

let directory = "";
let corpus = "";
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-fuzz-"));
  corpus = join(directory, "corpus");
  mkdirSync(corpus);
  for (const [name, bytes] of seeds()) writeFileSync(join(corpus, name), bytes);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const environment = new Map([
  ["CNI_COMMAND", "ADD"],
  ["CNI_PATH", "/opt/cni/bin"],
]);

const messages: Readonly<Record<string, ShimMessage | EngineMessage>> = {
  request: {
    kind: "request",
    name: "plexus",
    environment,
    stdin: Buffer.from("{}"),
    under: 0,
  },
  agent: { kind: "agent", environment },
  reply: { kind: "reply", status: 1, stdout: '{"code":7}', stderr: "no" },
  exec: {
    kind: "exec",
    type: "bridge",
    environment,
    stdin: "{}",
    deadlineMs: 1000,
    stdoutCap: 4096,
    stderrCap: 4096,
    nestedCallDirectory: "/run/n",
  },
  find: { kind: "find", type: "host-local", componentFirst: true },
  read: { kind: "read", path: "/opt/cni/bin/a.wasm", cap: 65_536 },
  netlink: {
    kind: "netlink",
    path: "/run/netns/pod",
    second: "/run/netns/second",
    foreign: true,
    protocol: "netfilter",
    request: Buffer.alloc(20, 20),
    deadlineMs: 1000,
  },
  sysctl: { kind: "sysctl", path: "/run/netns/pod", settings: [{ key: "net/ipv4/ip_forward", value: "1" }] },
  packet: {
    kind: "packet",
    path: "",
    index: 2,
    packets: [{ ethertype: 2054, destination: Buffer.alloc(6, 255), payload: Buffer.alloc(28, 1) }],
  },
  tap: { kind: "tap", path: "/run/netns/pod", name: "tap0", multiQueue: true, owner: 107, group: 108 },
  done: { kind: "done", errno: 1, sent: true, reply: Buffer.alloc(20, 20) },
};

/** A stream for each message, arriving whole and in small pieces; streams of all messages; and invalid streams. */
function seeds(): Map<string, Uint8Array> {
  const found = new Map<string, Uint8Array>();
  const all: Uint8Array[] = [];
  for (const [name, message] of Object.entries(messages)) {
    const frame = encodeMessage(3, message);
    const bytes = frame.ok ? encodeFrame(frame.value) : frame;
    if (!bytes.ok) throw new Error(bytes.fault.msg);
    all.push(bytes.value);
    found.set(name, Buffer.concat([Uint8Array.of(0), bytes.value]));
    found.set(`${name}-in-pieces`, Buffer.concat([Uint8Array.of(5), bytes.value]));
  }
  found.set("all", Buffer.concat([Uint8Array.of(0), ...all]));
  found.set("all-in-pieces", Buffer.concat([Uint8Array.of(13), ...all]));
  found.set("longest", Uint8Array.of(0, 0, 0, 0, 2, PROTOCOL_VERSION, 16, 0, 0, 0, 0, 0, 0));
  found.set("too-long", Uint8Array.of(0, 255, 255, 255, 255, PROTOCOL_VERSION, 16, 0, 0, 0, 0, 0, 0));
  return found;
}

function corpusFiles(): readonly string[] {
  return readdirSync(corpus)
    .sort()
    .map((name) => join(corpus, name));
}

/** Writes a source file that tests whether a compiler accepts the flags, and returns its path. */
function trivial(text: string): string {
  const path = join(directory, "trivial.c");
  writeFileSync(path, text);
  return path;
}

/** Compiles a program. Returns the compiler's stderr if it fails, undefined if it succeeds. */
function compile(compiler: string, flags: readonly string[], output: string): string | undefined {
  const { error, status, stderr } = spawnSync(compiler, [...LANGUAGE_FLAGS, "-g", ...flags, "-o", output], { encoding: "utf8" });
  if (error !== undefined) return error.message;
  return status === 0 ? undefined : stderr.slice(0, 2000);
}

/** Runs a program asynchronously: the test runner requires its worker to respond more often than once a minute. */
function run(
  program: string,
  args: readonly string[],
  limitSeconds: number,
): Promise<{ readonly status: number | null; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: directory, stdio: ["ignore", "pipe", "pipe"], timeout: limitSeconds * 1000 });
    let output = "";
    const take = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-8000);
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.on("error", reject);
    child.on("close", (status) => resolve({ status, output }));
  });
}

describe("the shim's frame parser", () => {
  test("survives a fixed set of hostile streams, with sanitizers if the compiler has them", async () => {
    const program = join(directory, "replay");
    const sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    const available = compile("cc", [...sanitizers, trivial("int main(void) { return 0; }")], program) === undefined;
    expect(compile("cc", ["-O1", ...(available ? sanitizers : []), ...target, here("replay.c")], program)).toBeUndefined();
    const mutations = 5000;
    const files = corpusFiles();
    const { status, output } = await run(program, [String(mutations), ...files], 60);
    expect([status, output.trim()]).toEqual([0, `${files.length * (mutations + 1)} inputs`]);
  });

  test("without any one of its checks fails the fuzz target", async () => {
    const source = readFileSync(join(shim, "frame.c"), "utf8");
    const forgotten = {
      "value->size > rest.size": "false",
      "rest.size < sizeof *number": "false",
      "return rest.size == 0": "return true",
      "frame->length > payload_max": "payload_max == 0",
    };
    for (const [check, instead] of Object.entries(forgotten)) {
      expect([check, source.split(check).length]).toEqual([check, 2]);
      const copy = join(directory, "frame.c");
      writeFileSync(copy, source.replace(check, instead));
      const program = join(directory, "forgetful");
      const sources = ["-iquote", shim, here("frame-fuzz.c"), copy, join(shim, "buffer.c"), here("replay.c")];
      expect(compile("cc", ["-O1", ...sources], program)).toBeUndefined();
      const { status } = await run(program, ["5000", ...corpusFiles()], 60);
      expect([check, status]).not.toEqual([check, 0]);
    }
  });

  test(`survives libFuzzer for ${seconds} s`, { timeout: (seconds + 60) * 1000 }, async (context) => {
    const program = join(directory, "fuzz");
    const flags = ["-O1", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all"];
    const declared = "int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size)";
    const compilerError = compile(
      "clang",
      [...flags, trivial(`${declared};\n${declared} { return size > 0 && data[0] == 0 ? 0 : 0; }`)],
      program,
    );
    if (compilerError !== undefined) return context.skip(`no clang with libFuzzer here: ${compilerError.split("\n", 1)[0]}`);
    expect(compile("clang", [...flags, ...target], program)).toBeUndefined();
    const bounds = [`-max_total_time=${seconds}`, "-max_len=4096", "-timeout=5", "-rss_limit_mb=1024", "-print_final_stats=1"];
    const { status, output } = await run(program, [...bounds, corpus], seconds + 50);
    expect([status, output]).toEqual([0, expect.stringContaining("stat::number_of_executed_units")]);
    const executed = Number(/number_of_executed_units:\s+(\d+)/.exec(output)?.[1]);
    expect(executed).toBeGreaterThan(seconds * 100);
    process.stderr.write(`plexus: libFuzzer ran ${executed} inputs in ${seconds} s\n`);
  });
});
