import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { encodeFrame, type Frame } from "../../../host/protocol/frames.ts";
import { encodeMessage } from "../../../host/protocol/message-codec.ts";
import { callWith, json, type EngineSide, type ShimAnswer } from "./testing/scripted-engine.ts";
import { missing, type Requirement } from "../../lab/requires.ts";
import { endlessMs, openWorkshop, soon, type Workshop } from "./testing/workshop.ts";

let shop: Workshop;

// Other tests mount file systems of their own beside this one.
const mounts = (): readonly string[] =>
  readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .filter((line) => line.includes(shop.directory) || line.includes(name) || line.startsWith("tmpfs /proc "));
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
const name = "0123456789abcdef";

function run(script: (engine: EngineSide) => Promise<void>): Promise<ShimAnswer> {
  return callWith(script, { shim: shop.shim, env: { CNI_PATH: shop.cniPath } });
}

/** The nested-call directories of a running shim: its tmpfs file systems, which only its descriptors lead to. */
function directoriesOf(pid: number): readonly string[] {
  return readdirSync(`/proc/${pid}/fd`)
    .map((fd) => `/proc/${pid}/fd/${fd}/${name}`)
    .filter((path) => existsSync(join(path, ".sock")));
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
async function besidePlugin(
  bounds: Readonly<Record<string, number>>,
  script: (directory: string) => Promise<void>,
): Promise<void> {
  shop.script("holds", "exec /bin/sleep 600");
  await callWith(
    async (engine) => {
      void engine.exec({ type: "holds", environment: environment(), nestedCallDirectory: name });
      expect(await soon(() => directoriesOf(engine.shim.pid).length > 0)).toBe(true);
      await script(directoriesOf(engine.shim.pid)[0] ?? "");
    },
    { shim: shop.shimWith(bounds), env: { CNI_PATH: shop.cniPath } },
  );
}

const userNamespaces: Requirement = () =>
  spawnSync("unshare", ["--user", "--map-root-user", "true"]).status === 0 ? undefined : "user namespaces are not allowed here";

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

/** Serves a nested call. */
async function serveOne(engine: EngineSide): Promise<void> {
  const main = engine.exec({
    type: "main",
    environment: environment({ CNI_IPAM: "wasm-ipam" }),
    nestedCallDirectory: name,
  });
  const { channel } = await engine.nested();
  engine.reply({ stdout: "served" }, channel);
  expect(text((await main).stdout)).toBe("served");
}

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
      expect(directoriesOf(engine.shim.pid)).toHaveLength(1);
      expect(request.environment.get("CNI_PATH")).toBe(`${directoriesOf(engine.shim.pid)[0]}:${shop.cniPath}`);
      expect(request.environment.get("CNI_IPAM")).toBe("wasm-ipam");
      engine.reply({ status: 7, stdout: '{"ips":[]}', stderr: "said" }, nested);
      const executed = await main;
      expect([executed.outcome, text(executed.stdout), text(executed.stderr)]).toEqual([
        { kind: "exited", status: 7 },
        '{"ips":[]}',
        "said",
      ]);
      expect(directoriesOf(engine.shim.pid)).toEqual([]);
    });
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
      expect(directoriesOf(engine.shim.pid)).toEqual([]);
    });
  });

  test("fails with code 11 if the parent shim ends", async () => {
    const answer = join(shop.directory, "answer");
    // In a process group of its own, because the nested shim must outlive the plugin here.
    shop.script("keeps", `setsid "\${CNI_PATH%%:*}/other" >${answer}`);
    await run(async (engine) => {
      void engine.exec({ type: "keeps", environment: environment({ CNI_CONTAINERID: "c" }), nestedCallDirectory: name });
      await engine.nested();
    });
    expect(await soon(() => existsSync(answer) && readFileSync(answer).length > 0)).toBe(true);
    expect(json(readFileSync(answer, "utf8"))).toMatchObject({ code: 11 });
  });
});

describe("a nested-call directory", () => {
  test("has mode 0700, a link to the shim for each name that FIND answers with a component, and a socket", async () => {
    shop.script("looks", 'ls -la "${CNI_PATH%%:*}/"; echo "$PLEXUS_NESTED_CALLS $CNI_PATH"');
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
      const directory = `/proc/${engine.shim.pid}/fd/7/${name}`;
      expect(lines.at(-1)?.replace(/(?<=\/fd\/)[0-9]+/gu, "7")).toBe(`${directory}/.sock ${directory}:${shop.cniPath}`);
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
      { shim: shop.shim, env: { CNI_PATH: plain } },
    );
  });

  test("leaves nothing where the shim is killed, and is a new one for each shim", async () => {
    const before = mounts();
    await run(async (engine) => {
      const main = engine.exec({ type: "main", environment: environment({ CNI_IPAM: "wasm-ipam" }), nestedCallDirectory: name });
      const { channel } = await engine.nested();
      const killed = callWith(
        async (other) => {
          void other.exec({ type: "main", environment: environment({ CNI_IPAM: "wasm-ipam" }), nestedCallDirectory: name });
          await other.nested();
          other.shim.process.kill("SIGKILL");
        },
        { shim: shop.shim, env: { CNI_PATH: shop.cniPath } },
      );
      expect(await killed).toMatchObject({ signal: "SIGKILL" });
      engine.reply({ stdout: "still served" }, channel);
      expect(text((await main).stdout)).toBe("still served");
    });
    expect(mounts()).toEqual(before);
  });

  test.skipIf(missing("a mount namespace of the node's beside an own user namespace", userNamespaces))(
    "is made through another mount namespace where the shim may mount nothing in its own",
    async () => {
      const shim = join(shop.directory, "in-user-namespace");
      writeFileSync(shim, `#!/bin/sh\nexec unshare --user --map-root-user ${shop.shim}\n`, { mode: 0o755 });
      await callWith(serveOne, { shim, env: { CNI_PATH: shop.cniPath } });
    },
  );

  test("is refused where the shim may mount nothing at all: no other place is safe", async () => {
    const shim = join(shop.directory, "without-rights");
    const options = process.geteuid?.() === 0 ? "--bounding-set=-all --inh-caps=-all" : "";
    writeFileSync(shim, `#!/bin/sh\nexec setpriv ${options} ${shop.shim}\n`, { mode: 0o755 });
    await callWith(
      async (engine) => {
        const refused = await engine.exec({ type: "looks", environment: environment(), nestedCallDirectory: name });
        expect(refused).toMatchObject({ outcome: { kind: "not-startable", errno: 1 }, path: `tmpfs/${name}` });
        expect((await engine.exec({ type: "looks", environment: environment() })).outcome).toMatchObject({ kind: "exited" });
      },
      { shim, env: { CNI_PATH: shop.cniPath } },
    );
  });

  test("has no other name than 16 hexadecimal digits, or `call-` with digits", async () => {
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
      for (const each of names) expect([each, await refusal(engine, each)]).toEqual([each, { kind: "not-startable", errno: 22 }]);
      expect(await refusal(engine, `call-${"1".repeat(102)}`)).toEqual({ kind: "not-startable", errno: 36 });
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
      expect(directoriesOf(engine.shim.pid)).toHaveLength(1);
      engine.reply({ stdout: "outer" }, first.channel);
      expect(text((await main).stdout)).toBe("outer");
      expect(directoriesOf(engine.shim.pid)).toEqual([]);
    });
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
        expect(await closesAfter(directoriesOf(engine.shim.pid)[0] ?? "", bytes)).toBe(true);
      }
      expect((await engine.find("other")).what).toBe("component");
    });
  });

  test("silent connections are closed after a time limit", async () => {
    await besidePlugin({ NESTED_MS: 1500 }, async (directory) => {
      const started = performance.now();
      const silent = Array.from({ length: 64 }, () =>
        closesAfter(directory, Buffer.alloc(0)).then(() => performance.now() - started),
      );
      expect(Math.min(...(await Promise.all(silent)))).toBeGreaterThan(1450);
    });
  });

  test("of 66 silent connections, two are closed before the time limit", async () => {
    await besidePlugin({ NESTED_MS: endlessMs }, async (directory) => {
      const closed: number[] = [];
      for (let index = 0; index < 66; index += 1) void closesAfter(directory, Buffer.alloc(0)).then(() => closed.push(index));
      await expect.poll(() => closed.length).toBe(2);
      // A further one is closed, and no other meanwhile.
      await closesAfter(directory, Buffer.alloc(0));
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
function closesAfter(directory: string, bytes: Uint8Array): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let connected = false;
    const socket = connect(join(directory, ".sock"), () => (connected = true));
    socket.on("error", (error) => {
      // EPIPE where it was hung up on at once; EAGAIN while a busy machine's shim has not accepted the connections before this one.
      if (connected) return;
      if ("code" in error && error.code === "EAGAIN") setTimeout(() => resolve(closesAfter(directory, bytes)), 10);
      else reject(error);
    });
    socket.on("close", () => (connected ? resolve(true) : undefined));
    socket.on("data", () => undefined);
    socket.write(bytes);
  });
}
