import { spawn, spawnSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { encodeFrame, type Frame } from "./frames.ts";
import { encodeMessage } from "./message-frames.ts";
import { callWith, json, type BrainSide, type HandsAnswer } from "./testing/scripted-brain.ts";
import { openWorkshop, type Workshop } from "./testing/workshop.ts";

let shop: Workshop;
let nest = "";
beforeAll(async () => {
  shop = await openWorkshop();
  shop.component("wasm-ipam");
  shop.component("other");
  shop.component("native-wins");
  shop.script("native-wins", "echo native");
  shop.component(".hidden");
  writeFileSync(join(shop.cniPath, "text.wasm"), "no component");
  // A native main plugin, as bridge is one: runs its IPAM plugin as libcni does, with its own environment and stdin.
  shop.script("main", 'IFS=:; for d in $CNI_PATH; do if [ -f "$d/$IPAM" ]; then exec "$d/$IPAM"; fi; done; exit 44');
});
afterAll(() => shop.dispose());
beforeEach(() => {
  nest = join(shop.directory, "nests", "n");
});

const searchPath = "/bin:/usr/bin";

function run(script: (brain: BrainSide) => Promise<void>): Promise<HandsAnswer> {
  return callWith(script, { hands: shop.hands, env: { CNI_PATH: shop.cniPath } });
}

function environment(more: Readonly<Record<string, string>> = {}): Map<string, string> {
  return new Map(Object.entries({ CNI_COMMAND: "ADD", CNI_PATH: shop.cniPath, PATH: searchPath, ...more }));
}

async function refusal(brain: BrainSide, path: string): Promise<unknown> {
  return (await brain.exec({ type: "looks", environment: environment(), nest: path })).outcome;
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

describe("a nested call", () => {
  test("reaches the brain under its parent's channel, with its own name, environment and stdin, and gets the brain's answer", async () => {
    await run(async (brain) => {
      const channel = brain.newChannel();
      const main = brain.exec(
        { type: "main", environment: environment({ IPAM: "wasm-ipam" }), stdin: '{"ipam":{}}', nest },
        channel,
      );
      const { channel: nested, request } = await brain.nested();
      expect(nested).toBeGreaterThanOrEqual(0x8000_0000);
      expect(request).toMatchObject({ name: "wasm-ipam", under: channel });
      expect(text(request.stdin)).toBe('{"ipam":{}}');
      expect(request.environment.get("CNI_PATH")).toBe(`${nest}:${shop.cniPath}`);
      expect(request.environment.get("IPAM")).toBe("wasm-ipam");
      brain.reply({ status: 7, stdout: '{"ips":[]}', stderr: "said" }, nested);
      const executed = await main;
      expect([executed.outcome, text(executed.stdout), text(executed.stderr)]).toEqual([
        { kind: "exited", status: 7 },
        '{"ips":[]}',
        "said",
      ]);
    });
    expect(existsSync(nest)).toBe(false);
  });

  test("meanwhile effects of the brain are served, and a second plugin's nest is another", async () => {
    await run(async (brain) => {
      const [first, second] = [brain.newChannel(), brain.newChannel()];
      const one = brain.exec({ type: "main", environment: environment({ IPAM: "wasm-ipam" }), nest }, first);
      const other = brain.exec({ type: "main", environment: environment({ IPAM: "other" }), nest: `${nest}2` }, second);
      const calls = [await brain.nested(), await brain.nested()];
      expect(new Set(calls.map(({ channel }) => channel)).size).toBe(2);
      expect(Object.fromEntries(calls.map(({ request }) => [request.name, request.under]))).toEqual({
        "wasm-ipam": first,
        other: second,
      });
      expect(await brain.find("wasm-ipam")).toMatchObject({ what: "component", path: join(shop.cniPath, "wasm-ipam.wasm") });
      for (const { channel, request } of calls) brain.reply({ stdout: request.name }, channel);
      expect([text((await one).stdout), text((await other).stdout)]).toEqual(["wasm-ipam", "other"]);
    });
  });

  test("of a plugin that was killed at its deadline is dropped, and a late REPLY to it too", async () => {
    await run(async (brain) => {
      const main = brain.exec({ type: "main", environment: environment({ IPAM: "wasm-ipam" }), nest, deadlineMs: 500 });
      const { channel } = await brain.nested();
      expect((await main).outcome).toEqual({ kind: "deadline-passed" });
      brain.reply({ stdout: "late" }, channel);
      brain.reply({ stdout: "never was" }, 0xffff_ffff);
      expect((await brain.find("other")).what).toBe("component");
    });
    expect(existsSync(nest)).toBe(false);
  });

  test("is told to try later when the parent hands go away", async () => {
    const answers = join(shop.directory, "answers");
    shop.script("keeps", `"\${CNI_PATH%%:*}/other" >${answers} & setsid sh -c 'sleep 0' ; wait`);
    await run(async (brain) => {
      void brain.exec({ type: "keeps", environment: environment({ CNI_CONTAINERID: "c" }), nest });
      await brain.nested();
      // The nested hands must outlive the plugin's process group here: called from outside it.
      const outside = spawn(join(nest, "other"), {
        env: { CNI_COMMAND: "ADD", PLEXUS_NEST: join(nest, ".sock") },
        stdio: ["pipe", "pipe", "ignore"],
      });
      outside.stdin.end("{}");
      await brain.nested();
      const said = new Promise<string>((resolve) => outside.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString())));
      brain.reply();
      expect(json(await said)).toMatchObject({ code: 11 });
    });
    expect(existsSync(nest)).toBe(false);
  });
});

describe("a nest", () => {
  test("is 0700 and has a link to the hands for each name that FIND gives as a component, and a socket", async () => {
    shop.script("looks", 'ls -la "${CNI_PATH%%:*}"; echo "$PLEXUS_NEST $CNI_PATH"');
    await run(async (brain) => {
      const looked = brain.exec({ type: "looks", environment: environment({ PLEXUS_NEST: "/outer/.sock" }), nest });
      const { stdout } = await looked;
      const lines = text(stdout).trim().split("\n");
      expect(
        lines
          .filter((line) => line.startsWith("l"))
          .map((line) => line.split(" ").slice(-3).join(" "))
          .sort(),
      ).toEqual([`other -> ${shop.hands}`, `wasm-ipam -> ${shop.hands}`]);
      expect(lines.find((line) => line.endsWith(" ."))).toMatch(/^drwx------/);
      expect(lines.find((line) => line.endsWith(" .sock"))).toMatch(/^s/);
      expect(lines.at(-1)).toBe(`${nest}/.sock ${nest}:${shop.cniPath}`);
    });
  });

  test("is not made where CNI_PATH has no component: the environment is as given", async () => {
    const plain = join(shop.directory, "plain");
    mkdirSync(plain);
    writeFileSync(join(plain, "looks"), '#!/bin/sh\necho "$PLEXUS_NEST $CNI_PATH"\n', { mode: 0o755 });
    await callWith(
      async (brain) => {
        const { stdout } = await brain.exec({ type: "looks", environment: environment({ CNI_PATH: "/given" }), nest });
        expect(text(stdout)).toBe(" /given\n");
      },
      { hands: shop.hands, env: { CNI_PATH: plain } },
    );
    expect(existsSync(nest)).toBe(false);
  });

  test("of a call that was killed is emptied and used again", async () => {
    mkdirSync(nest, { recursive: true, mode: 0o700 });
    symlinkSync("/old/hands", join(nest, "stale"));
    await run(async (brain) => {
      const { stdout } = await brain.exec({ type: "looks", environment: environment(), nest });
      expect(text(stdout)).toContain("other ->");
      expect(text(stdout)).not.toContain("stale");
    });
    expect(existsSync(nest)).toBe(false);
  });

  test("that other hands use is not taken from them", async () => {
    await run(async (brain) => {
      const main = brain.exec({ type: "main", environment: environment({ IPAM: "wasm-ipam" }), nest });
      const { channel } = await brain.nested();
      await run(async (other) => expect(await refusal(other, nest)).toEqual({ kind: "not-startable", errno: 11 }));
      brain.reply({ stdout: "still served" }, channel);
      expect(text((await main).stdout)).toBe("still served");
    });
  });

  test("is not made of anything that was no nest: the EXEC is refused and nothing touched", async () => {
    const held = join(shop.directory, "held");
    mkdirSync(held, { mode: 0o700 });
    symlinkSync("/kept", join(held, "a-link"));
    writeFileSync(join(held, "precious"), "data");
    const open = join(shop.directory, "open");
    mkdirSync(open, { mode: 0o755 });
    symlinkSync("/kept", join(open, "a-link"));
    const pointed = join(shop.directory, "pointed");
    symlinkSync(shop.cniPath, pointed);
    await run(async (brain) => {
      expect(await refusal(brain, held)).toEqual({ kind: "not-startable", errno: 39 });
      expect(await refusal(brain, open)).toEqual({ kind: "not-startable", errno: 1 });
      expect(await refusal(brain, pointed)).toMatchObject({ kind: "not-startable" });
      expect(await refusal(brain, shop.script("a-file", ""))).toMatchObject({ kind: "not-startable" });
      expect(await refusal(brain, "relative")).toEqual({ kind: "not-startable", errno: 22 });
      expect(await refusal(brain, `/${"n".repeat(102)}`)).toEqual({ kind: "not-startable", errno: 36 });
    });
    expect([readlinkSync(join(held, "a-link")), readFileSync(join(held, "precious"), "utf8")]).toEqual(["/kept", "data"]);
    expect([readlinkSync(join(open, "a-link")), readlinkSync(pointed)]).toEqual(["/kept", shop.cniPath]);
    expect(lstatSync(join(shop.cniPath, "main")).isFile()).toBe(true);
  });

  test("hangs up on callers that send no request, a malformed one, or two", async () => {
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
    await run(async (brain) => {
      void brain.exec({ type: "main", environment: environment({ IPAM: "wasm-ipam" }), nest });
      await brain.nested();
      for (const bytes of [reply, belied, Buffer.from("GET / HTTP/1.1\r\n\r\n"), Buffer.concat([request, request]), huge()]) {
        expect(await closesAfter(bytes)).toBe(true);
      }
      expect((await brain.find("other")).what).toBe("component");
    });
  });

  test("a caller that says nothing is hung up on after a while, and the sixty-fifth at once", async () => {
    await callWith(
      async (brain) => {
        void brain.exec({ type: "main", environment: environment({ IPAM: "wasm-ipam" }), nest });
        await brain.nested();
        const started = performance.now();
        const silent = Array.from({ length: 64 }, () => closesAfter(Buffer.alloc(0)).then(() => performance.now() - started));
        const times = (await Promise.all(silent)).sort((a, b) => a - b);
        expect(times[0]).toBeLessThan(300);
        expect(times[1]).toBeGreaterThan(450);
        expect(times[63]).toBeLessThan(2000);
      },
      { hands: shop.impatientHands(500), env: { CNI_PATH: shop.cniPath } },
    );
  });

  test("called when nobody is there answers with an error that says where it looked", async () => {
    const { status, stdout } = spawnSync(shop.hands, {
      env: { CNI_COMMAND: "ADD", PLEXUS_NEST: "/nonexistent/.sock" },
      input: "{}",
      encoding: "utf8",
    });
    expect(status).toBe(1);
    expect(json(stdout)).toMatchObject({ code: 11, msg: expect.stringContaining("PLEXUS_NEST=/nonexistent/.sock") });
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

/** A REQUEST header that announces more than nested hands may send. */
function huge(): Uint8Array {
  const bytes = Buffer.from(bytesOf({ type: 1, channel: 0, payload: new Uint8Array(0) }));
  bytes.writeUInt32LE(20 << 20, 0);
  return bytes;
}

/** Whether the nest's socket hangs up after these bytes. */
function closesAfter(bytes: Uint8Array): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let connected = false;
    const socket = connect(join(nest, ".sock"), () => (connected = true));
    socket.on("error", (error) => (connected ? undefined : reject(error))); // EPIPE where it was hung up on at once
    socket.on("close", () => resolve(true));
    socket.on("data", () => undefined);
    socket.write(bytes);
  });
}
