import { spawn, spawnSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { encodeFrame, type Frame } from "../../../host/protocol/frames.ts";
import { encodeMessage } from "../../../host/protocol/message-frames.ts";
import { callWith, json, type EngineSide, type ShimAnswer } from "./testing/scripted-engine.ts";
import { endlessMs, openWorkshop, soon, type Workshop } from "./testing/workshop.ts";

let shop: Workshop;
let nestedCallDirectory = "";
beforeAll(async () => {
  shop = await openWorkshop();
  shop.component("wasm-ipam");
  shop.component("other");
  shop.component("native-wins");
  shop.script("native-wins", "echo native");
  shop.component(".hidden");
  writeFileSync(join(shop.cniPath, "text.wasm"), "no component");
  // A native main plugin, like bridge: runs its IPAM plugin as libcni does, with its own environment and stdin.
  shop.script("main", 'IFS=:; for d in $CNI_PATH; do if [ -f "$d/$CNI_IPAM" ]; then exec "$d/$CNI_IPAM"; fi; done; exit 44');
});
afterAll(() => shop.dispose());
beforeEach(() => {
  nestedCallDirectory = join(runDirectory(), name);
});

const name = "0123456789abcdef";
const runDirectory = (): string => join(shop.directory, "nested-calls");
/** A configuration that names the run directory. */
const configuration = (): string => JSON.stringify({ runDir: runDirectory() });

function run(script: (engine: EngineSide) => Promise<void>): Promise<ShimAnswer> {
  return callWith(script, { shim: shop.shim, env: { CNI_PATH: shop.cniPath }, stdin: configuration() });
}

function environment(more: Readonly<Record<string, string>> = {}): Map<string, string> {
  return new Map(Object.entries({ CNI_COMMAND: "ADD", ...more }));
}

/** Starts a plugin whose deadline ends it during its nested call. A busy machine needs a longer deadline for the nested call. */
async function nestedBeforeDeadline(engine: EngineSide) {
  const nested = engine.nested();
  for (let deadlineMs = 500; ; deadlineMs *= 3) {
    const ipam = environment({ CNI_IPAM: "wasm-ipam" });
    const main = engine.exec({ type: "main", environment: ipam, nestedCallDirectory: name, deadlineMs });
    const first = await Promise.race([nested, main]);
    if ("channel" in first) return { main, channel: first.channel };
  }
}

async function refusal(engine: EngineSide, directoryName: string): Promise<unknown> {
  return (await engine.exec({ type: "looks", environment: environment(), nestedCallDirectory: directoryName })).outcome;
}

/** Runs `script` with an engine while a plugin has its nested-call directory. */
async function besidePlugin(bounds: Readonly<Record<string, number>>, script: () => Promise<void>): Promise<void> {
  shop.script("holds", "exec /bin/sleep 600");
  await callWith(
    async (engine) => {
      void engine.exec({ type: "holds", environment: environment(), nestedCallDirectory: name });
      expect(await soon(() => existsSync(join(nestedCallDirectory, ".sock")))).toBe(true);
      await script();
    },
    { shim: shop.shimWith(bounds), env: { CNI_PATH: shop.cniPath }, stdin: configuration() },
  );
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

describe("a nested call", () => {
  test("reaches the engine under its parent's channel, with its own name, environment and stdin, and gets the engine's answer", async () => {
    await run(async (engine) => {
      const channel = engine.newChannel();
      const main = engine.exec(
        { type: "main", environment: environment({ CNI_IPAM: "wasm-ipam" }), stdin: '{"ipam":{}}', nestedCallDirectory: name },
        channel,
      );
      const { channel: nested, request } = await engine.nested();
      expect(nested).toBeGreaterThanOrEqual(0x8000_0000);
      expect(request).toMatchObject({ name: "wasm-ipam", under: channel });
      expect(text(request.stdin)).toBe('{"ipam":{}}');
      expect(request.environment.get("CNI_PATH")).toBe(`${nestedCallDirectory}:${shop.cniPath}`);
      expect(request.environment.get("CNI_IPAM")).toBe("wasm-ipam");
      engine.reply({ status: 7, stdout: '{"ips":[]}', stderr: "said" }, nested);
      const executed = await main;
      expect([executed.outcome, text(executed.stdout), text(executed.stderr)]).toEqual([
        { kind: "exited", status: 7 },
        '{"ips":[]}',
        "said",
      ]);
    });
    expect(existsSync(nestedCallDirectory)).toBe(false);
  });

  test("meanwhile the shim serves other effects, and a second plugin has another nested-call directory", async () => {
    await run(async (engine) => {
      const [first, second] = [engine.newChannel(), engine.newChannel()];
      const one = engine.exec(
        { type: "main", environment: environment({ CNI_IPAM: "wasm-ipam" }), nestedCallDirectory: name },
        first,
      );
      const other = engine.exec(
        { type: "main", environment: environment({ CNI_IPAM: "other" }), nestedCallDirectory: "fedcba9876543210" },
        second,
      );
      const calls = [await engine.nested(), await engine.nested()];
      expect(new Set(calls.map(({ channel }) => channel)).size).toBe(2);
      expect(Object.fromEntries(calls.map(({ request }) => [request.name, request.under]))).toEqual({
        "wasm-ipam": first,
        other: second,
      });
      expect(await engine.find("wasm-ipam")).toMatchObject({ what: "component", path: join(shop.cniPath, "wasm-ipam.wasm") });
      for (const { channel, request } of calls) engine.reply({ stdout: request.name }, channel);
      expect([text((await one).stdout), text((await other).stdout)]).toEqual(["wasm-ipam", "other"]);
    });
  });

  test("of a plugin that was killed at its deadline is dropped, and so is a late REPLY to it", async () => {
    await run(async (engine) => {
      const { main, channel } = await nestedBeforeDeadline(engine);
      expect((await main).outcome).toEqual({ kind: "deadline-passed" });
      engine.reply({ stdout: "late" }, channel);
      engine.reply({ stdout: "never was" }, 0xffff_ffff);
      expect((await engine.find("other")).what).toBe("component");
    });
    expect(existsSync(nestedCallDirectory)).toBe(false);
  });

  test("fails with code 11 if the parent shim ends", async () => {
    const answers = join(shop.directory, "answers");
    shop.script("keeps", `"\${CNI_PATH%%:*}/other" >${answers} & setsid sh -c 'sleep 0' ; wait`);
    await run(async (engine) => {
      void engine.exec({ type: "keeps", environment: environment({ CNI_CONTAINERID: "c" }), nestedCallDirectory: name });
      await engine.nested();
      // Called from outside the plugin's process group, because the nested shim must outlive it here.
      const outside = spawn(join(nestedCallDirectory, "other"), {
        env: { CNI_COMMAND: "ADD", PLEXUS_NESTED_CALLS: join(nestedCallDirectory, ".sock") },
        stdio: ["pipe", "pipe", "ignore"],
      });
      outside.stdin.end("{}");
      await engine.nested();
      const output = new Promise<string>((resolve) => outside.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString())));
      engine.reply();
      expect(json(await output)).toMatchObject({ code: 11 });
    });
    expect(existsSync(nestedCallDirectory)).toBe(false);
  });
});

describe("a nested-call directory", () => {
  test("has mode 0700, a link to the shim for each name that FIND answers with a component, and a socket", async () => {
    shop.script("looks", 'ls -la "${CNI_PATH%%:*}"; echo "$PLEXUS_NESTED_CALLS $CNI_PATH"');
    await run(async (engine) => {
      const looked = engine.exec({
        type: "looks",
        environment: environment(),
        nestedCallDirectory: name,
      });
      const { stdout } = await looked;
      const lines = text(stdout).trim().split("\n");
      expect(
        lines
          .filter((line) => line.startsWith("l"))
          .map((line) => line.split(" ").slice(-3).join(" "))
          .sort(),
      ).toEqual([`other -> ${shop.shim}`, `wasm-ipam -> ${shop.shim}`]);
      expect(lines.find((line) => line.endsWith(" ."))).toMatch(/^drwx------/);
      expect(lines.find((line) => line.endsWith(" .sock"))).toMatch(/^s/);
      expect(lines.at(-1)).toBe(`${nestedCallDirectory}/.sock ${nestedCallDirectory}:${shop.cniPath}`);
    });
  });

  test("is not made if CNI_PATH has no component: the plugin's environment is unchanged", async () => {
    const plain = join(shop.directory, "plain");
    mkdirSync(plain);
    writeFileSync(join(plain, "looks"), '#!/bin/sh\necho "$PLEXUS_NESTED_CALLS $CNI_PATH"\n', { mode: 0o755 });
    await callWith(
      async (engine) => {
        const { stdout } = await engine.exec({
          type: "looks",
          environment: environment(),
          nestedCallDirectory: name,
        });
        expect(text(stdout)).toBe(` ${plain}\n`);
      },
      { shim: shop.shim, env: { CNI_PATH: plain }, stdin: configuration() },
    );
    expect(existsSync(nestedCallDirectory)).toBe(false);
  });

  test("of a killed call is emptied and used again", async () => {
    mkdirSync(nestedCallDirectory, { recursive: true, mode: 0o700 });
    symlinkSync("/old/shim", join(nestedCallDirectory, "stale"));
    await run(async (engine) => {
      const { stdout } = await engine.exec({ type: "looks", environment: environment(), nestedCallDirectory: name });
      expect(text(stdout)).toContain("other ->");
      expect(text(stdout)).not.toContain("stale");
    });
    expect(existsSync(nestedCallDirectory)).toBe(false);
  });

  test("that another shim uses is left unchanged", async () => {
    await run(async (engine) => {
      const main = engine.exec({ type: "main", environment: environment({ CNI_IPAM: "wasm-ipam" }), nestedCallDirectory: name });
      const { channel } = await engine.nested();
      await run(async (other) => expect(await refusal(other, name)).toEqual({ kind: "not-startable", errno: 11 }));
      engine.reply({ stdout: "still served" }, channel);
      expect(text((await main).stdout)).toBe("still served");
    });
  });

  test("is not made from another directory or file: the EXEC is refused, and nothing is changed", async () => {
    const [heldName, openName, linkName, fileName] = ["a", "b", "c", "d"].map((digit) => digit.repeat(16));
    const inRun = (entry = ""): string => join(runDirectory(), entry);
    mkdirSync(runDirectory(), { recursive: true, mode: 0o700 });
    const [held, open, pointed] = [inRun(heldName), inRun(openName), inRun(linkName)];
    mkdirSync(held, { mode: 0o700 });
    symlinkSync("/kept", join(held, "a-link"));
    writeFileSync(join(held, "precious"), "data");
    mkdirSync(open, { mode: 0o755 });
    symlinkSync("/kept", join(open, "a-link"));
    symlinkSync(shop.cniPath, pointed);
    writeFileSync(inRun(fileName), "");
    await run(async (engine) => {
      expect(await refusal(engine, heldName ?? "")).toEqual({ kind: "not-startable", errno: 39 });
      expect(await refusal(engine, openName ?? "")).toEqual({ kind: "not-startable", errno: 1 });
      expect(await refusal(engine, linkName ?? "")).toMatchObject({ kind: "not-startable" });
      expect(await refusal(engine, fileName ?? "")).toMatchObject({ kind: "not-startable" });
      expect(await refusal(engine, `call-${"1".repeat(102)}`)).toEqual({ kind: "not-startable", errno: 36 });
    });
    expect([readlinkSync(join(held, "a-link")), readFileSync(join(held, "precious"), "utf8")]).toEqual(["/kept", "data"]);
    expect([readlinkSync(join(open, "a-link")), readlinkSync(pointed)]).toEqual(["/kept", shop.cniPath]);
    expect(lstatSync(join(shop.cniPath, "main")).isFile()).toBe(true);
  });

  test("has no other name than 16 hexadecimal digits, or `call-` with digits", async () => {
    const victim = join(runDirectory(), "victim");
    mkdirSync(victim, { recursive: true, mode: 0o700 });
    symlinkSync("/kept", join(victim, "a-link"));
    const names = [
      "victim",
      "../n",
      "/etc",
      ".",
      "..",
      "n/",
      "0123456789ABCDEF",
      "0123456789abcdef0",
      "call-",
      "call-x",
      "call-1/2",
    ];
    await run(async (engine) => {
      for (const each of [...names, victim])
        expect([each, await refusal(engine, each)]).toEqual([each, { kind: "not-startable", errno: 22 }]);
    });
    expect(readlinkSync(join(victim, "a-link"))).toBe("/kept");
  });

  test.each([
    ["is not absolute", { runDir: "relative" }],
    ["has an escape", { runDir: "/run/a\\b" }],
    ["is empty", { runDir: "" }],
  ])("is refused if the configuration's runDir %s", async (_, configured) => {
    await callWith(async (engine) => expect(await refusal(engine, name)).toEqual({ kind: "not-startable", errno: 22 }), {
      shim: shop.shim,
      env: { CNI_PATH: shop.cniPath },
      stdin: JSON.stringify(configured),
    });
  });

  test("is shared by a plugin that a nested call of its plugin executes: further nested calls belong to the first plugin", async () => {
    shop.script("inner", 'exec "${CNI_PATH%%:*}/other"');
    await run(async (engine) => {
      const outer = engine.newChannel();
      const main = engine.exec(
        { type: "main", environment: environment({ CNI_IPAM: "wasm-ipam" }), nestedCallDirectory: name },
        outer,
      );
      const first = await engine.nested();
      const inner = engine.exec({ type: "inner", environment: environment(), nestedCallDirectory: name });
      const second = await engine.nested();
      expect(second.request).toMatchObject({ name: "other", under: outer });
      engine.reply({ stdout: "inner" }, second.channel);
      expect(text((await inner).stdout)).toBe("inner");
      expect(existsSync(join(nestedCallDirectory, ".sock"))).toBe(true);
      engine.reply({ stdout: "outer" }, first.channel);
      expect(text((await main).stdout)).toBe("outer");
    });
    expect(existsSync(nestedCallDirectory)).toBe(false);
  });

  test("closes connections that send another frame, a malformed request, or two requests", async () => {
    const request = encoded({
      kind: "request",
      name: "x",
      environment: new Map(),
      stdin: new Uint8Array(0),
      under: 0,
    });
    const belied = encoded({
      kind: "request",
      name: "x",
      environment: new Map(),
      stdin: new Uint8Array(0),
      under: 5,
    });
    const reply = encoded({ kind: "reply", status: 0, stdout: "", stderr: "" });
    await run(async (engine) => {
      void engine.exec({ type: "main", environment: environment({ CNI_IPAM: "wasm-ipam" }), nestedCallDirectory: name });
      await engine.nested();
      for (const bytes of [reply, belied, Buffer.from("GET / HTTP/1.1\r\n\r\n"), Buffer.concat([request, request]), huge()]) {
        expect(await closesAfter(bytes)).toBe(true);
      }
      expect((await engine.find("other")).what).toBe("component");
    });
  });

  test("silent connections are closed after a time limit", async () => {
    await besidePlugin({ NESTED_MS: 1500 }, async () => {
      const started = performance.now();
      const silent = Array.from({ length: 64 }, () => closesAfter(Buffer.alloc(0)).then(() => performance.now() - started));
      expect(Math.min(...(await Promise.all(silent)))).toBeGreaterThan(1450);
    });
  });

  test("of 66 silent connections, two are closed before the time limit", async () => {
    await besidePlugin({ NESTED_MS: endlessMs }, async () => {
      const closed: number[] = [];
      for (let index = 0; index < 66; index += 1) void closesAfter(Buffer.alloc(0)).then(() => closed.push(index));
      await expect.poll(() => closed.length).toBe(2);
      // A further one is closed, and no other meanwhile.
      await closesAfter(Buffer.alloc(0));
      expect(closed).toHaveLength(2);
    });
  });

  test("called without an engine answers an error that names the socket", async () => {
    const { status, stdout } = spawnSync(shop.shim, {
      env: { CNI_COMMAND: "ADD", PLEXUS_NESTED_CALLS: "/nonexistent/.sock" },
      input: "{}",
      encoding: "utf8",
    });
    expect(status).toBe(1);
    expect(json(stdout)).toMatchObject({ code: 11, msg: expect.stringContaining("PLEXUS_NESTED_CALLS=/nonexistent/.sock") });
  });
});

function encoded(message: Parameters<typeof encodeMessage>[1]): Uint8Array {
  const frame = encodeMessage(0, message);
  if (!frame.ok) throw new Error(frame.fault.msg);
  return bytesOf(frame.value);
}

function bytesOf(frame: Frame): Uint8Array {
  const bytes = encodeFrame(frame);
  if (!bytes.ok) throw new Error(bytes.fault.msg);
  return bytes.value;
}

/** A REQUEST header with a larger length than a nested shim may send. */
function huge(): Uint8Array {
  const bytes = Buffer.from(bytesOf({ type: 1, channel: 0, payload: new Uint8Array(0) }));
  bytes.writeUInt32LE(20 << 20, 0);
  return bytes;
}

/** Whether the shim closes the connection to the nested-call directory's socket after these bytes. */
function closesAfter(bytes: Uint8Array): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let connected = false;
    const socket = connect(join(nestedCallDirectory, ".sock"), () => (connected = true));
    socket.on("error", (error) => {
      // EPIPE where it was hung up on at once; EAGAIN while a busy machine's shim has not accepted the connections before this one.
      if (connected) return;
      if ("code" in error && error.code === "EAGAIN") setTimeout(() => resolve(closesAfter(bytes)), 10);
      else reject(error);
    });
    socket.on("close", () => (connected ? resolve(true) : undefined));
    socket.on("data", () => undefined);
    socket.write(bytes);
  });
}
