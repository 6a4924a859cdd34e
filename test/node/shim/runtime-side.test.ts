import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { SUPPORTED_VERSIONS } from "../../../src/cni/versions.ts";
import { PROTOCOL_VERSION } from "../../../host/protocol/frames.ts";
import { callWith, json, startShim, type EngineSide, type ShimAnswer } from "./testing/scripted-engine.ts";
import { isRunning, openWorkshop, soon, type Workshop } from "./testing/workshop.ts";

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.dispose());

function run(
  script: (engine: EngineSide) => Promise<void> | void,
  more: Partial<Parameters<typeof callWith>[1]> = {},
): Promise<ShimAnswer> {
  return callWith(script, { shim: shop.shim, ...more, env: { CNI_PATH: shop.cniPath, ...more.env } });
}

describe("the runtime's side", () => {
  test("L-05: without CNI_COMMAND, about-text and versions on stderr, and success", () => {
    for (const env of [{}, { CNI_COMMAND: "" }]) {
      const { status, stdout, stderr } = spawnSync(shop.shim, { env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
      expect([status, stdout]).toEqual([0, ""]);
      expect(stderr).toMatch(/^CNI plugin plexus \d+\.\d+\.\d+: .*\n/);
      expect(stderr.split("\n")[1]).toBe(`CNI protocol versions supported: ${SUPPORTED_VERSIONS.join(", ")}`);
    }
  });

  test("the engine gets the whole call byte for byte, and the runtime the whole reply", async () => {
    const stdin = Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 256));
    const out = "r".repeat(3_000_000);
    const answer = await run(
      async (engine) => {
        const request = await engine.request();
        expect(request).toMatchObject({ name: "plexus", under: 0 });
        expect(Buffer.from(request.stdin).equals(stdin)).toBe(true);
        expect(Object.fromEntries(request.environment)).toMatchObject({ CNI_COMMAND: "ADD", CNI_ARGS: "A=b=c;ü=1", EMPTY: "" });
        engine.reply({ status: 17, stdout: out, stderr: "to stderr" });
      },
      { stdin, env: { CNI_ARGS: "A=b=c;ü=1", EMPTY: "" } },
    );
    expect([answer.status, answer.stdout === out, answer.stderr]).toEqual([17, true, "to stderr"]);
  });

  test("an exit status that no process can have becomes a failure", async () => {
    expect((await run((engine) => engine.reply({ status: 257 }))).status).toBe(1);
    expect((await run((engine) => engine.reply({ status: 255 }))).status).toBe(255);
  });

  test("stdin of 8 MiB is accepted, one more byte is refused", async () => {
    const limit = 8 << 20;
    await run(async (engine) => expect((await engine.request()).stdin).toHaveLength(limit), { stdin: new Uint8Array(limit) });
    const refused = await startShim({ shim: shop.shim, stdin: new Uint8Array(limit + 1) }).answer;
    expect(refused.status).toBe(1);
    expect(json(refused.stdout)).toMatchObject({ code: 5, msg: `plexus: stdin is larger than ${limit} bytes` });
  });

  test("a stdin that is never closed ends the call after a time limit", () => {
    const path = join(shop.directory, "stdin");
    execFileSync("mkfifo", [path]);
    // Written before the shim's time begins.
    const stdin = openSync(path, "r+");
    writeSync(stdin, "{}");
    const { stdout } = spawnSync(shop.shimWith({ STDIN_MS: 300 }), {
      env: { CNI_COMMAND: "ADD" },
      stdio: [stdin, "pipe", "pipe"],
      encoding: "utf8",
      timeout: 120_000,
    });
    closeSync(stdin);
    expect(json(stdout)).toMatchObject({ code: 5, msg: "plexus: stdin was not closed within 300 ms (2 bytes received)" });
  });

  test("an environment of more than 1 MiB is refused with code 4", async () => {
    const big = Array.from({ length: 11 }, (_, i) => [`BIG${i}`, "x".repeat(i === 7 ? 110_000 : 100_000)]);
    const answer = await startShim({ shim: shop.shim, env: Object.fromEntries(big) }).answer;
    expect(answer.status).toBe(1);
    const msg = "plexus: the environment is larger than 1048576 bytes; its longest variable is BIG7";
    expect(json(answer.stdout)).toMatchObject({ code: 4, msg });
  });

  test.each([
    ['{"cniVersion":"0.4.0"}', "0.4.0"],
    ['{ "plugins":[{"cniVersion":"0.1.0"}], "cniVersion" : "1.0.0" }', "1.0.0"],
    ['{"cniVersion":"9.9.9-rc.1"}', "9.9.9-rc.1"],
    ['{"cniVersion":"a\\u0022b"}', "1.1.0"],
    ['{"cniVersion":"1.0.0', "1.1.0"],
    [`{"cniVersion":"${"1".repeat(40)}"}`, "1.1.0"],
    ['{"cniVersion":1}', "1.1.0"],
    ["{}", "1.1.0"],
  ])("CNI section 5: an error for the configuration %s has cniVersion %s", (input, cniVersion) => {
    const env = { CNI_COMMAND: "STATUS", PLEXUS_SOCKET: "/nonexistent/s", PLEXUS_HOME: "/nonexistent" };
    const { stdout } = spawnSync(shop.shim, { env, encoding: "utf8", input });
    expect(json(stdout)).toMatchObject({ cniVersion, code: 50 });
  });

  test("closed standard descriptors do no harm", () => {
    const script = `exec ${shop.shim} <&- 2>&-`;
    const { status, stdout } = spawnSync("sh", ["-c", script], {
      env: { CNI_COMMAND: "STATUS", PLEXUS_SOCKET: "/nonexistent/s", PLEXUS_HOME: "/nonexistent" },
      encoding: "utf8",
    });
    expect([status, json(stdout)]).toEqual([1, expect.objectContaining({ code: 50 })]);
  });

  test("an error about a name that is not UTF-8 or needs escaping is valid JSON", () => {
    const script = `PLEXUS_HOME=$(printf '/a"b\\\\c\\377\\t\\303\\274\\355\\240\\200') exec ${shop.shim}`;
    const { stdout } = spawnSync("sh", ["-c", script], {
      env: { CNI_COMMAND: "STATUS", PLEXUS_SOCKET: "/nonexistent/s" },
      encoding: "utf8",
      input: "{}",
    });
    expect(json(stdout)).toMatchObject({
      msg: expect.stringContaining('/a"b\\c\ufffd\tü\ufffd\ufffd\ufffd/plexusd.cjs: No such file'),
    });
  });
});

describe("an engine that", () => {
  test.each([
    ["speaks another version", [0, 0, 0, 0, 1, 21, 0, 0, 1, 0, 0, 0]],
    ["sets reserved bytes", [0, 0, 0, 0, PROTOCOL_VERSION, 21, 1, 0, 1, 0, 0, 0]],
    ["sends an unknown type", [0, 0, 0, 0, PROTOCOL_VERSION, 99, 0, 0, 1, 0, 0, 0]],
    ["sends a type of the shim", [0, 0, 0, 0, PROTOCOL_VERSION, 5, 0, 0, 1, 0, 0, 0]],
    ["announces too long a payload", [1, 0, 0, 2, PROTOCOL_VERSION, 16, 0, 0, 0, 0, 0, 0]],
    ["sends fields that fall short", [5, 0, 0, 0, PROTOCOL_VERSION, 21, 0, 0, 1, 0, 0, 0, 1, 2, 3, 4, 5]],
    ["sends fields that overrun", [8, 0, 0, 0, PROTOCOL_VERSION, 18, 0, 0, 1, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0]],
    ["sends an effect on channel 0", [8, 0, 0, 0, PROTOCOL_VERSION, 18, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
    ["sends an effect on a nested channel", [8, 0, 0, 0, PROTOCOL_VERSION, 18, 0, 0, 0, 0, 0, 128, 0, 0, 0, 0, 0, 0, 0, 0]],
    ["hides a NUL in a type", [9, 0, 0, 0, PROTOCOL_VERSION, 18, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]],
    [
      "answers a call on an effect's channel",
      [12, 0, 0, 0, PROTOCOL_VERSION, 16, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    ],
    ["answers with HTTP", [...Buffer.from("HTTP/1.1 400 Bad Request\r\n")]],
  ])("%s is refused with code 5", async (_, bytes) => {
    const answer = await run(async (engine) => {
      await engine.request();
      engine.raw(Uint8Array.from(bytes));
      await engine.shim.answer;
    });
    expect(answer.status).toBe(1);
    expect(json(answer.stdout)).toMatchObject({
      cniVersion: "1.1.0",
      code: 5,
      msg: expect.stringContaining(`protocol version ${PROTOCOL_VERSION}`),
      details: expect.stringContaining("of one release"),
    });
  });

  test("reuses the channel of a running effect is refused, and running plugins are killed", async () => {
    shop.script("sleeps", "echo $$ >&2; exec sleep 60");
    const mark = join(shop.directory, "sleeper");
    shop.script("sleeps", `echo $$ > ${mark}; exec /bin/sleep 60`);
    const answer = await run(async (engine) => {
      void engine.exec({ type: "sleeps" }, 1);
      await soon(() => readOrEmpty(mark) !== "");
      void engine.exec({ type: "sleeps" }, 1);
      await engine.shim.answer;
    });
    expect(json(answer.stdout)).toMatchObject({ code: 5 });
    expect(isRunning(Number(readOrEmpty(mark)))).toBe(false); // gone before the answer
  });

  test("disconnects is reported with code 11, and running plugins and their children are killed before the answer", async () => {
    const mark = join(shop.directory, "family");
    shop.script("family", `sh -c 'echo $$ >> ${mark}; exec /bin/sleep 60' & echo $$ >> ${mark}; wait`);
    const answer = await run(async (engine) => {
      await engine.request();
      void engine.exec({ type: "family" });
      await soon(() => readOrEmpty(mark).split("\n").length === 3);
      engine.end();
      await engine.shim.answer;
    });
    expect(answer.status).toBe(1);
    expect(json(answer.stdout)).toMatchObject({ code: 11, msg: expect.stringContaining("the daemon (") });
    const pids = readOrEmpty(mark).trim().split("\n").map(Number);
    expect(pids).toHaveLength(2);
    expect(await soon(() => pids.every((pid) => !isRunning(pid)))).toBe(true);
  });

  test("replies while a plugin runs causes the plugin to be killed: no process outlives the answer", async () => {
    const mark = join(shop.directory, "outlives");
    shop.script("outlives", `echo $$ > ${mark}; exec /bin/sleep 60`);
    const answer = await run(async (engine) => {
      void engine.exec({ type: "outlives" });
      await soon(() => readOrEmpty(mark) !== "");
    });
    expect([answer.status, isRunning(Number(readOrEmpty(mark)))]).toEqual([0, false]);
  });

  test("sends its frames byte by byte is understood", async () => {
    const answer = await run(async (engine) => {
      await engine.request();
      const reply = [14, 0, 0, 0, PROTOCOL_VERSION, 16, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 111, 107, 0, 0, 0, 0];
      for (const byte of reply) {
        engine.raw(Uint8Array.of(byte));
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    });
    expect([answer.status, answer.stdout]).toEqual([3, "ok"]);
  });

  test("does not accept connections delays a call by at most a second", async ({ skip }) => {
    const socket = join(shop.directory, "full.sock");
    // A listener with a full backlog of one that never accepts.
    const program = `
import socket, subprocess, sys
s = socket.socket(socket.AF_UNIX); s.bind(${JSON.stringify(socket)}); s.listen(0)
c = socket.socket(socket.AF_UNIX); c.connect(${JSON.stringify(socket)})
p = subprocess.run([${JSON.stringify(shop.shim)}], env={"CNI_COMMAND": "ADD", "PLEXUS_SOCKET": ${JSON.stringify(socket)}}, input=b"{}", stdout=subprocess.PIPE)
sys.stdout.buffer.write(p.stdout)`;
    // No process accepts the connection, so the shim's limit alone ends the call.
    const { stdout, error } = spawnSync("python3", ["-c", program], { encoding: "utf8", timeout: 120_000 });
    if (error !== undefined) return skip("no python3 here");
    expect(json(stdout)).toMatchObject({ code: 11, msg: `plexus: the daemon on ${socket} accepts no connection within 1000 ms` });
  });

  test("has a path that is not a socket, or too long, is named in the error", async () => {
    const file = join(shop.directory, "file");
    writeFileSync(file, "");
    for (const [path, code, words] of [
      [join(shop.directory, "l".repeat(120)), 5, "File name too long"],
      [file, 11, "no engine"],
    ] as const) {
      const answer = await startShim({
        shim: shop.shimWith({ SEARCH_MS: 300 }),
        env: { PLEXUS_SOCKET: path, PLEXUS_HOME: "/nonexistent" },
      }).answer;
      expect(json(answer.stdout)).toMatchObject({ code, msg: expect.stringContaining(words) });
    }
  });
});

describe("a shim that is stopped", () => {
  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("by %s kills its plugins and answers with code 11", async (signal) => {
    const mark = join(shop.directory, `stopped-${signal}`);
    shop.script("stopped", `echo $$ > "$CNI_MARK"; exec /bin/sleep 60`);
    const answer = await run(async (engine) => {
      void engine.exec({ type: "stopped", environment: new Map([["CNI_MARK", mark]]) });
      await soon(() => readOrEmpty(mark).endsWith("\n"));
      engine.shim.process.kill(signal);
      await engine.shim.answer;
    });
    expect([answer.status, answer.signal]).toEqual([1, null]);
    expect(json(answer.stdout)).toMatchObject({ code: 11, msg: expect.stringContaining("stopped by signal") });
    expect(isRunning(Number(readOrEmpty(mark)))).toBe(false);
  });

  test("answers also while the runtime still writes its stdin", async () => {
    const shim = startShim({ shim: shop.shim, endStdin: false });
    // Earlier, the signal has its default action.
    await soon(() => readOrEmpty(`/proc/${shim.pid}/fdinfo/3`).includes("sigmask:"));
    shim.process.kill("SIGTERM");
    expect(json((await shim.answer).stdout)).toMatchObject({ code: 11 });
  });

  test("by SIGKILL leaves no plugin behind", async () => {
    const mark = join(shop.directory, "killed");
    shop.script("killed", `echo $$ > ${mark}; exec /bin/sleep 60`);
    await run(async (engine) => {
      void engine.exec({ type: "killed" });
      await soon(() => readOrEmpty(mark).endsWith("\n"));
      engine.shim.process.kill("SIGKILL");
      await engine.shim.answer;
    });
    expect(await soon(() => !isRunning(Number(readOrEmpty(mark))))).toBe(true);
  });
});

test("an idle shim takes less than 2 MiB", async () => {
  await run(async (engine) => {
    await engine.request();
    const agent = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${engine.shim.pid}/status`, "utf8"))?.[1];
    expect(Number(agent)).toBeLessThan(2048);
  });
});

test("a call through a daemon needs no PLEXUS_HOME", async () => {
  const directory = join(shop.directory, "daemon");
  mkdirSync(directory);
  const server = createServer((socket) => {
    socket
      .on("error", () => undefined)
      .once("data", () =>
        socket.end(Uint8Array.from([12, 0, 0, 0, PROTOCOL_VERSION, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])),
      );
    socket.write(Uint8Array.from([0, 0, 0, 0, PROTOCOL_VERSION, 21, 0, 0, 0, 0, 0, 0]));
  });
  await new Promise<void>((resolve) => server.listen(join(directory, "s"), resolve));
  const answer = await startShim({
    shim: shop.shim,
    env: { PLEXUS_SOCKET: join(directory, "s"), PLEXUS_HOME: "/nonexistent" },
  }).answer;
  expect(answer).toEqual({ status: 0, signal: null, stdout: "", stderr: "" });
  server.close();
});

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
