// The hands' frame parser against hostile bytes: a fixed set of inputs everywhere, libFuzzer where clang has it.

import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { LANGUAGE_FLAGS } from "../../host/hands/build.ts";
import { encodeFrame, PROTOCOL_VERSION } from "../../host/hands/frames.ts";
import { encodeMessage } from "../../host/hands/message-frames.ts";
import type { BrainMessage, HandsMessage } from "../../host/hands/messages.ts";

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const hands = fileURLToPath(new URL("../../host/hands", import.meta.url));
const target = ["-iquote", hands, here("frame-fuzz.c"), join(hands, "frame.c"), join(hands, "buffer.c")];
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

const messages: Readonly<Record<string, HandsMessage | BrainMessage>> = {
  request: {
    kind: "request",
    name: "plexus",
    environment,
    stdin: Buffer.from("{}"),
    under: 0,
  },
  resident: { kind: "resident", environment },
  reply: { kind: "reply", status: 1, stdout: '{"code":7}', stderr: "no" },
  exec: {
    kind: "exec",
    type: "bridge",
    environment,
    stdin: "{}",
    deadlineMs: 1000,
    stdoutCap: 4096,
    stderrCap: 4096,
    nest: "/run/n",
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

/** One stream for each message, in one piece and in small ones; one of all; some broken ones. */
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

/** The path of a source file that tells whether a compiler has what it is asked for. */
function trivial(text: string): string {
  const path = join(directory, "trivial.c");
  writeFileSync(path, text);
  return path;
}

/** Compiles; answers the compiler's complaint, undefined where it had none. */
function compile(compiler: string, flags: readonly string[], output: string): string | undefined {
  const { error, status, stderr } = spawnSync(compiler, [...LANGUAGE_FLAGS, "-g", ...flags, "-o", output], { encoding: "utf8" });
  if (error !== undefined) return error.message;
  return status === 0 ? undefined : stderr.slice(0, 2000);
}

/** Runs a program without blocking the test runner, which wants to hear from its worker more often than once a minute. */
function run(
  program: string,
  args: readonly string[],
  limitSeconds: number,
): Promise<{ readonly status: number | null; readonly words: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: directory, stdio: ["ignore", "pipe", "pipe"], timeout: limitSeconds * 1000 });
    let words = "";
    const take = (chunk: Buffer): void => {
      words = (words + chunk.toString()).slice(-8000);
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.on("error", reject);
    child.on("close", (status) => resolve({ status, words }));
  });
}

describe("the hands' frame parser", () => {
  test("takes a fixed set of hostile streams, with sanitizers where the compiler has them", async () => {
    const program = join(directory, "replay");
    const sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    const available = compile("cc", [...sanitizers, trivial("int main(void) { return 0; }")], program) === undefined;
    expect(compile("cc", ["-O1", ...(available ? sanitizers : []), ...target, here("replay.c")], program)).toBeUndefined();
    const mutations = 5000;
    const files = corpusFiles();
    const { status, words } = await run(program, [String(mutations), ...files], 60);
    expect([status, words.trim()]).toEqual([0, `${files.length * (mutations + 1)} inputs`]);
  });

  test("is really looked at: a parser that forgets one check is caught", async () => {
    const source = readFileSync(join(hands, "frame.c"), "utf8");
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
      const sources = ["-iquote", hands, here("frame-fuzz.c"), copy, join(hands, "buffer.c"), here("replay.c")];
      expect(compile("cc", ["-O1", ...sources], program)).toBeUndefined();
      const { status } = await run(program, ["5000", ...corpusFiles()], 60);
      expect([check, status]).not.toEqual([check, 0]);
    }
  });

  test(`gives libFuzzer nothing in ${seconds} s`, { timeout: (seconds + 60) * 1000 }, async (context) => {
    const program = join(directory, "fuzz");
    const flags = ["-O1", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all"];
    const declared = "int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size)";
    const complaint = compile(
      "clang",
      [...flags, trivial(`${declared};\n${declared} { return size > 0 && data[0] == 0 ? 0 : 0; }`)],
      program,
    );
    if (complaint !== undefined) return context.skip(`no clang with libFuzzer here: ${complaint.split("\n", 1)[0]}`);
    expect(compile("clang", [...flags, ...target], program)).toBeUndefined();
    const bounds = [`-max_total_time=${seconds}`, "-max_len=4096", "-timeout=5", "-rss_limit_mb=1024", "-print_final_stats=1"];
    const { status, words } = await run(program, [...bounds, corpus], seconds + 50);
    expect([status, words]).toEqual([0, expect.stringContaining("stat::number_of_executed_units")]);
    const executed = Number(/number_of_executed_units:\s+(\d+)/.exec(words)?.[1]);
    expect(executed).toBeGreaterThan(seconds * 100);
    process.stderr.write(`plexus: libFuzzer ran ${executed} inputs in ${seconds} s\n`);
  });
});
