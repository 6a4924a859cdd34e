import { spawn, spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { PROTOCOL_VERSION } from "../protocol/frames.ts";
import { EngineSide, json, startShim, type ShimAnswer } from "./testing/scripted-engine.ts";
import { isRunning, openWorkshop, soon, type Workshop } from "./testing/workshop.ts";

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
  shop.component("delegate", "body");
  shop.script("native", 'cat; echo "$CNI_GREETING"');
  shop.script("main", '"${CNI_PATH%%:*}/delegate"');
});
afterAll(() => shop.dispose());

const modules = fileURLToPath(new URL("../protocol/", import.meta.url));
const nobody = "/nonexistent/plexus.sock";

/** Makes a PLEXUS_HOME whose engine runs `body`, which can use `stream`, `call` and `OneShotShim`. */
function home(name: string, body: string): string {
  const directory = join(shop.directory, name);
  mkdirSync(join(directory, "bin"), { recursive: true });
  symlinkSync(process.execPath, join(directory, "bin", "node"));
  writeFileSync(join(directory, "engine.cjs"), 'import("./engine.mjs");');
  writeFileSync(
    join(directory, "engine.mjs"),
    `import { OneShotStream, receiveCall } from ${JSON.stringify(join(modules, "one-shot-stream.ts"))};
     import { OneShotShim } from ${JSON.stringify(join(modules, "one-shot-shim.ts"))};
     const stream = new OneShotStream();
     const call = receiveCall(stream);
     const text = (bytes) => Buffer.from(bytes).toString();
     ${body}`,
  );
  return directory;
}

/** A configuration whose nested-call directories are the test's. */
const configuration = (): string => JSON.stringify({ name: "n", runDir: join(shop.directory, "run") });

function call(
  plexusHome: string,
  env: Readonly<Record<string, string>> = {},
  stdin: string | Uint8Array = configuration(),
): Promise<ShimAnswer> {
  return startShim({
    shim: shop.shim,
    env: { CNI_PATH: shop.cniPath, PLEXUS_SOCKET: nobody, PLEXUS_HOME: plexusHome, ...env },
    stdin,
  }).answer;
}

/** More bytes than a socket's buffer holds. */
const large = new Uint8Array(3 << 20).fill(32);

describe("a one-shot engine", () => {
  test("gets the call over descriptor 3, requests every effect, serves nested calls and answers", async () => {
    const directory = home(
      "whole",
      `const shim = new OneShotShim(stream, async (request) => {
         const found = shim.findSync({ type: request.name, componentFirst: false });
         const { content } = await shim.read({ path: found.path, cap: 100 });
         const inner = await shim.exec({ type: "native", environment: new Map([["CNI_GREETING", "inner"]]), stdin: "", deadlineMs: 5000, stdoutCap: 1000, stderrCap: 1000 });
         return { status: 0, stderr: "", stdout: [request.name, request.under, found.what, content.length, text(inner.stdout).trim()].join(" ") };
       });
       const environment = new Map([["CNI_COMMAND", "ADD"], ["CNI_GREETING", "hello"]]);
       const effect = { environment, stdin: call.stdin, deadlineMs: 5000, stdoutCap: 1000, stderrCap: 1000 };
       const one = await shim.exec({ type: "native", ...effect });
       const [two, three] = await Promise.all([shim.exec({ type: "main", ...effect, nestedCallDirectory: "0123456789abcdef" }), shim.exec({ type: "native", ...effect })]);
       const out = { name: call.name, environment: process.env, cwd: process.cwd(), one: text(one.stdout), two: text(two.stdout), three: text(three.stdout) };
       shim.reply({ status: 5, stdout: JSON.stringify(out), stderr: "noise" });`,
    );
    const answer = await call(directory);
    expect(answer).toMatchObject({ status: 5, stderr: "noise" });
    expect(json(answer.stdout)).toEqual({
      name: "plexus",
      environment: {},
      cwd: "/",
      one: `${configuration()}hello\n`,
      two: "delegate 2 component 12 inner",
      three: `${configuration()}hello\n`,
    });
  });

  test("that outlives its answer holds no pipe of the runtime: the call ends with the shim", async () => {
    const mark = join(shop.directory, "lingers.pid");
    const directory = home(
      "lingers",
      `import { writeFileSync } from "node:fs";
       writeFileSync(${JSON.stringify(mark)}, String(process.pid));
       process.stdout.write("to nobody"); process.stderr.write("to the shim");
       new OneShotShim(stream).reply({ status: 0, stdout: "answer", stderr: "" });
       setTimeout(() => process.exit(), 5000);`,
    );
    const started = performance.now();
    const answer = await call(directory);
    expect(answer).toMatchObject({ status: 0, stdout: "answer", stderr: "" });
    expect(performance.now() - started).toBeLessThan(3000);
    const pid = Number(readFileSync(mark, "utf8"));
    expect(isRunning(pid)).toBe(true);
    process.kill(pid, "SIGKILL");
  });

  test("that dies is reported with code 11, its end and its stderr, and its plugin is killed", async () => {
    const mark = join(shop.directory, "pid");
    shop.script("endless", `echo $$ > ${mark}; while :; do sleep 1; done`);
    const directory = home(
      "dies",
      `process.stderr.write("x".repeat(100_000) + " \\u001b[31mlast \\"words\\" \\u00fc\\n");
       stream.send(1, { kind: "exec", type: "endless", environment: new Map(), stdin: "", deadlineMs: 60_000, stdoutCap: 0, stderrCap: 0 });
       setTimeout(() => process.kill(process.pid, "SIGSEGV"), 200);`,
    );
    const answer = await call(directory);
    expect(answer.status).toBe(1);
    expect(json(answer.stdout)).toMatchObject({
      cniVersion: "1.1.0",
      code: 11,
      msg: expect.stringMatching(/\/dies\/engine\.cjs\) was killed by signal 11; it wrote: x+ .\[31mlast "words" ü\n$/),
      details: expect.stringContaining("Repeat the call"),
    });
    expect(answer.stdout).not.toContain("\u001b");
    const pid = Number(readFileSync(mark, "utf8"));
    expect(await soon(() => !isRunning(pid))).toBe(true);
  });

  test("that exits without an answer, or cannot be loaded, is reported with its exit status", async () => {
    expect(json((await call(home("exits", "process.exit(3);"))).stdout)).toMatchObject({
      code: 11,
      msg: expect.stringContaining("exited with status 3"),
    });
    const broken = json((await call(home("broken", "this is no JavaScript"))).stdout);
    expect(broken).toMatchObject({ code: 11, msg: expect.stringMatching(/exited with status 1; it wrote: [^]*SyntaxError/) });
  });

  test("gets ShimGone if the shim is killed, and can then undo its work", async () => {
    const mark = join(shop.directory, "undone");
    const directory = home(
      "undoes",
      `import { writeFileSync } from "node:fs";
       const shim = new OneShotShim(stream);
       try {
         await shim.exec({ type: "endless", environment: new Map(), stdin: "", deadlineMs: 60_000, stdoutCap: 0, stderrCap: 0 });
       } catch (error) {
         writeFileSync(${JSON.stringify(mark)}, error.name + " " + error.fault.kind);
       }`,
    );
    const mark2 = join(shop.directory, "pid");
    writeFileSync(mark2, "");
    const shim = startShim({
      shim: shop.shim,
      env: { CNI_PATH: shop.cniPath, PLEXUS_SOCKET: nobody, PLEXUS_HOME: directory },
    });
    expect(await soon(() => readFileSync(mark2, "utf8").endsWith("\n"))).toBe(true);
    const plugin = Number(readFileSync(mark2, "utf8"));
    expect(isRunning(plugin)).toBe(true);
    shim.process.kill("SIGKILL");
    await shim.answer;
    expect(await soon(() => !isRunning(plugin))).toBe(true);
    expect(await soon(() => spawnSync("cat", [mark], { encoding: "utf8" }).stdout === "ShimGone SHIM_GONE")).toBe(true);
  });
});

describe("the search for an engine", () => {
  test("without PLEXUS_HOME the shim uses the link .plexus beside the executable, also if called through a link", async () => {
    const directory = home("linked", 'new OneShotShim(stream).reply({ status: 0, stdout: "linked " + call.name, stderr: "" });');
    const bin = join(shop.directory, "bin");
    mkdirSync(bin);
    copyFileSync(shop.shim, join(bin, "plexus"));
    chmodSync(join(bin, "plexus"), 0o755);
    symlinkSync(directory, join(bin, ".plexus"));
    symlinkSync(join(bin, "plexus"), join(shop.directory, "alias"));
    for (const [path, name] of [
      [join(bin, "plexus"), "plexus"],
      [join(shop.directory, "alias"), "alias"],
    ] as const) {
      expect((await startShim({ shim: path, env: { PLEXUS_SOCKET: nobody } }).answer).stdout).toBe(`linked ${name}`);
    }
  });

  test("a missing script and a missing Node are named, with the remedy", async () => {
    const nowhere = json((await call("/nonexistent/home")).stdout);
    expect(nowhere).toEqual({
      cniVersion: "1.1.0",
      code: 5,
      msg: `plexus: no engine: /nonexistent/home/engine.cjs: No such file or directory (and no daemon listens on ${nobody})`,
      details: expect.stringContaining("name it in PLEXUS_HOME"),
    });
    const half = join(shop.directory, "half");
    mkdirSync(half);
    writeFileSync(join(half, "engine.cjs"), "");
    expect(json((await call(half)).stdout)).toMatchObject({
      code: 5,
      msg: expect.stringContaining(`${half}/bin/node: No such file`),
    });
    expect(json((await call(half, { CNI_COMMAND: "STATUS" })).stdout)).toMatchObject({ code: 50 });
  });

  test("MO-15 a daemon that dies between accepting and its WELCOME counts as absent", async () => {
    const socket = join(shop.directory, "dying.sock");
    const program = `require("net").createServer(() => process.kill(process.pid, "SIGKILL")).listen(${JSON.stringify(socket)}, () => console.log("listens"))`;
    const daemon = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
    await once(daemon.stdout, "data");
    const answer = await call(join(shop.directory, "linked"), { PLEXUS_SOCKET: socket });
    expect(answer.stdout).toBe("linked plexus");
  });

  test("a daemon that closes each connection before its WELCOME causes code 11, and no one-shot engine", async () => {
    const socket = join(shop.directory, "rude.sock");
    const connections: Socket[] = [];
    const daemon = createServer((connection) => connections.push(connection.destroy())).listen(socket);
    await once(daemon, "listening");
    const answer = await call(join(shop.directory, "linked"), { PLEXUS_SOCKET: socket });
    expect(json(answer.stdout)).toMatchObject({ code: 11 });
    expect(connections.length).toBeGreaterThan(1);
    daemon.close();
  });

  test("MO-15 after a daemon hangs, a one-shot engine gets the whole request, and the daemon can no longer send WELCOME", async () => {
    const socket = join(shop.directory, "hanging.sock");
    const daemon = createServer({ pauseOnConnect: true }).listen(socket);
    await once(daemon, "listening");
    const counts = home("counts", 'new OneShotShim(stream).reply({ status: 0, stdout: String(call.stdin.length), stderr: "" });');
    const answer = call(counts, { PLEXUS_SOCKET: socket }, large);
    const [connection] = (await once(daemon, "connection")) as [Socket];
    expect((await answer).stdout).toBe(String(large.length));
    const failure = once(connection, "error");
    connection.write("anything");
    expect(await failure).toMatchObject([{ code: "EPIPE" }]);
    daemon.close();
  });

  test("MO-29 a slow daemon gets the whole request, of any size", async () => {
    const socket = join(shop.directory, "slow.sock");
    const daemon = createServer({ pauseOnConnect: true }).listen(socket);
    await once(daemon, "listening");
    const answer = call("/nonexistent/home", { PLEXUS_SOCKET: socket }, large);
    const [connection] = (await once(daemon, "connection")) as [Socket];
    await setTimeout(1500);
    const engine = new EngineSide(undefined, connection);
    engine.send(0, { kind: "welcome" });
    await setTimeout(1500);
    connection.resume();
    expect((await engine.request()).stdin).toHaveLength(large.length);
    engine.reply({ stdout: "served" });
    expect((await answer).stdout).toBe("served");
    engine.end();
    daemon.close();
  });

  test("MO-15 a daemon with another protocol version counts as absent, so that calls succeed during an update", async () => {
    const socket = join(shop.directory, "older.sock");
    const welcome = Buffer.from([0, 0, 0, 0, PROTOCOL_VERSION - 1, 21, 0, 0, 0, 0, 0, 0]);
    const daemon = createServer((connection) => connection.on("error", () => undefined).write(welcome)).listen(socket);
    await once(daemon, "listening");
    for (const stdin of ["{}", large])
      expect((await call(join(shop.directory, "linked"), { PLEXUS_SOCKET: socket }, stdin)).stdout).toBe("linked plexus");
    daemon.close();
  });

  test("a socket file without a listening process counts as absent", async () => {
    const socket = join(shop.directory, "stale.sock");
    const listener = spawn(process.execPath, [
      "-e",
      `require("net").createServer().listen(${JSON.stringify(socket)}, () => process.kill(process.pid, "SIGKILL"))`,
    ]);
    await new Promise((resolve) => listener.on("close", resolve));
    const answer = await call(join(shop.directory, "linked"), { PLEXUS_SOCKET: socket });
    expect(answer.stdout).toBe("linked plexus");
  });
});
