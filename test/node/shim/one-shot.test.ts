import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { PROTOCOL_VERSION } from "../../../host/protocol/frames.ts";
import { canBecome } from "../../../host/sandbox/launcher/jail.ts";
import { missing, type Requirement } from "../../lab/requires.ts";
import { printVersionAnswer } from "../../../src/cni/version-answer.ts";
import { notBegunStatus } from "../../../host/protocol/messages.ts";
import { callWith, EngineSide, json, startShim, type ShimAnswer } from "./testing/scripted-engine.ts";
import { endlessMs, isRunning, openWorkshop, soon, type Workshop } from "./testing/workshop.ts";

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
  shop.component("delegate", "body");
  shop.script("native", 'cat; echo "$CNI_GREETING"');
  shop.script("main", '"${CNI_PATH%%:*}/delegate"');
});
afterAll(() => shop.dispose());

const changesUsers: Requirement = () =>
  canBecome({ first: 1_999_999_999, count: 1 }) ? undefined : "this user may not change users";

const modules = fileURLToPath(new URL("../../../host/protocol/", import.meta.url));
const nobody = "/nonexistent/plexus.sock";

/** Makes a PLEXUS_HOME whose engine runs `body`, which can use `connected` and `call`. */
function home(name: string, body: string): string {
  const directory = join(shop.directory, name);
  mkdirSync(join(directory, "bin"), { recursive: true });
  symlinkSync(process.execPath, join(directory, "bin", "node"));
  writeFileSync(join(directory, "plexusd.cjs"), 'import("./engine.mjs");');
  writeFileSync(
    join(directory, "engine.mjs"),
    `import { Socket } from "node:net";
     import { ConnectedShim } from ${JSON.stringify(join(modules, "connected-shim.ts"))};
     const connected = new ConnectedShim(new Socket({ fd: 3, readable: true, writable: true }));
     const call = await connected.purpose;
     const refuse = () => Promise.reject(new Error("a nested call"));
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
  shim = shop.shim,
): Promise<ShimAnswer> {
  return startShim({
    shim,
    env: { CNI_PATH: shop.cniPath, PLEXUS_SOCKET: nobody, PLEXUS_HOME: plexusHome, ...env },
    stdin,
  }).answer;
}

/** The shim with waits for a daemon and for an engine that nothing but the test ends. It knows a STATUS by its other wait. */
const patientShim = (): string =>
  shop.shimWith({ SEARCH_MS: endlessMs, RETURN_MS: endlessMs, STATUS_RETURN_MS: endlessMs + 1, WELCOME_MS: endlessMs });

/** Calls the patient shim. */
const patient = (engineHome: string, env: Readonly<Record<string, string>>, stdin?: string | Uint8Array): Promise<ShimAnswer> =>
  call(engineHome, env, stdin, patientShim());

/** Serves the next connection to the socket as a daemon, and stops listening. Answers the request's environment. */
async function serveOne(socket: string, stdout: string): Promise<ReadonlyMap<string, string>> {
  const daemon = createServer().listen(socket);
  const [connection] = (await once(daemon, "connection")) as [Socket];
  daemon.close();
  const engine = new EngineSide(undefined, connection);
  engine.send(0, { kind: "welcome" });
  const { environment } = await engine.request();
  engine.reply({ stdout });
  return environment;
}

/** Waits until the shim handles signals: earlier, one has its default action. */
const handlesSignals = (pid: number): Promise<boolean> =>
  soon(() => spawnSync("cat", [`/proc/${pid}/fdinfo/3`], { encoding: "utf8" }).stdout.includes("sigmask:"));

/** More bytes than a socket's buffer holds. */
const large = new Uint8Array(3 << 20).fill(32);

/** The directory of slot files of `configuration()`. */
const slots = (): string => join(shop.directory, "run.one-shot");
/** The home of an engine that answers every call. */
const plexusHome = (): string => join(shop.directory, "linked");

/** Calls a shim that waits only a second for an engine. */
const impatient = (env: Readonly<Record<string, string>>): Promise<ShimAnswer> =>
  startShim({
    shim: shop.shimWith({ SEARCH_MS: 1000 }),
    env: { CNI_PATH: shop.cniPath, PLEXUS_SOCKET: nobody, ...env },
    stdin: configuration(),
  }).answer;

/** The answer of the linked engine. */
const linkedBeside = (socket: string): Promise<ShimAnswer> => call(join(shop.directory, "linked"), { PLEXUS_SOCKET: socket });

/** Holds the locks of these slots in a process of its own, until the answer is called. */
async function hold(...numbers: readonly number[]): Promise<() => void> {
  mkdirSync(slots(), { recursive: true, mode: 0o700 });
  const opened = numbers.map((slot) => `exec ${slot + 5}>${slots()}/${slot}; flock ${slot + 5}`).join("; ");
  const holder = spawn("/bin/sh", ["-c", `${opened}; echo held; read end`], { stdio: ["pipe", "pipe", "inherit"] });
  await once(holder.stdout, "data");
  return () => void holder.stdin.end();
}

/** The socket of a daemon that went now, or some ms ago. */
function gone(name: string, agoMs = 0): string {
  const socket = join(shop.directory, `${name}.sock`);
  writeFileSync(`${socket}.away`, "");
  const goneAt = (Date.now() - agoMs) / 1000;
  utimesSync(`${socket}.away`, goneAt, goneAt);
  return socket;
}

describe("a one-shot engine", () => {
  test("gets the call over descriptor 3, requests every effect, serves nested calls and answers", async () => {
    const directory = home(
      "whole",
      `const shim = connected.serving(async (request) => {
         const found = await shim.find({ type: request.name, componentFirst: false });
         const { content } = await shim.read({ path: found.path, cap: 100 });
         const inner = await shim.exec({ type: "native", environment: new Map([["CNI_GREETING", "inner"]]), stdin: "", deadlineMs: 5000, stdoutCap: 1000, stderrCap: 1000 });
         return { status: 0, stderr: "", stdout: [request.name, request.under, found.what, content.length, text(inner.stdout).trim()].join(" ") };
       });
       const environment = new Map([["CNI_COMMAND", "ADD"], ["CNI_GREETING", "hello"]]);
       const effect = { environment, stdin: call.stdin, deadlineMs: 5000, stdoutCap: 1000, stderrCap: 1000 };
       const one = await shim.exec({ type: "native", ...effect });
       const [two, three] = await Promise.all([shim.exec({ type: "main", ...effect, nestedCallDirectory: "0123456789abcdef" }), shim.exec({ type: "native", ...effect })]);
       const out = { name: call.name, environment: process.env, cwd: process.cwd(), one: text(one.stdout), two: text(two.stdout), three: text(three.stdout) };
       connected.reply({ status: 5, stdout: JSON.stringify(out), stderr: "noise" });`,
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
       connected.reply({ status: 0, stdout: "answer", stderr: "" });
       setTimeout(() => process.exit(), 600_000);`,
    );
    const answer = await call(directory);
    expect(answer).toMatchObject({ status: 0, stdout: "answer", stderr: "" });
    // The engine goes on, so the call ended before it.
    const pid = Number(readFileSync(mark, "utf8"));
    expect(isRunning(pid)).toBe(true);
    process.kill(pid, "SIGKILL");
  });

  test("that dies is reported with code 11, its end and its stderr, and its plugin is killed", async () => {
    const mark = join(shop.directory, "pid");
    shop.script("endless", `echo $$ > ${mark}; while :; do sleep 1; done`);
    writeFileSync(mark, "");
    const directory = home(
      "dies",
      `import { readFileSync } from "node:fs";
       process.stderr.write("x".repeat(100_000) + " \\u001b[31mlast \\"words\\" \\u00fc\\n");
       void connected.serving(refuse).exec({ type: "endless", environment: new Map(), stdin: "", deadlineMs: 60_000, stdoutCap: 0, stderrCap: 0 });
       setInterval(() => readFileSync(${JSON.stringify(mark)}, "utf8").endsWith("\\n") && process.kill(process.pid, "SIGSEGV"), 20);`,
    );
    const answer = await call(directory);
    expect(answer.status).toBe(1);
    expect(json(answer.stdout)).toMatchObject({
      cniVersion: "1.1.0",
      code: 11,
      msg: expect.stringMatching(/\/dies\/plexusd\.cjs\) was killed by signal 11; it wrote: x+ .\[31mlast "words" ü\n$/),
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
       const shim = connected.serving(refuse);
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
    const directory = home("linked", 'connected.reply({ status: 0, stdout: "linked " + call.name, stderr: "" });');
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

  test("without an engine a call waits, then fails with code 11 and names what is missing, with the remedy", async () => {
    const begun = performance.now();
    const nowhere = json((await impatient({ PLEXUS_HOME: "/nonexistent/home" })).stdout);
    expect(performance.now() - begun).toBeGreaterThan(1000);
    expect(nowhere).toEqual({
      cniVersion: "1.1.0",
      code: 11,
      msg: expect.stringMatching(
        /^plexus: no engine: waited [1-9]\d* s: no daemon listens on \/nonexistent\/plexus\.sock: No such file or directory, and \/nonexistent\/home\/plexusd\.cjs: No such file or directory$/,
      ),
      details: expect.stringMatching(/^Start the daemon .* name it in PLEXUS_HOME\.$/),
    });
    const half = join(shop.directory, "half");
    mkdirSync(half);
    writeFileSync(join(half, "plexusd.cjs"), "");
    for (const CNI_COMMAND of ["DEL", "GC", "CHECK"])
      expect(json((await impatient({ PLEXUS_HOME: half, CNI_COMMAND })).stdout)).toMatchObject({
        code: 11,
        msg: expect.stringContaining(`${half}/bin/node: No such file`),
      });
  });

  test("an engine that the kernel cannot execute counts as missing", async () => {
    const unfit = join(shop.directory, "unfit");
    mkdirSync(join(unfit, "bin"), { recursive: true });
    writeFileSync(join(unfit, "plexusd.cjs"), "");
    writeFileSync(join(unfit, "bin", "node"), "#!/nonexistent/loader\n", { mode: 0o755 });
    expect(json((await impatient({ PLEXUS_HOME: unfit })).stdout)).toMatchObject({
      code: 11,
      msg: expect.stringContaining(`${unfit}/bin/node: No such file`),
    });
  });

  test("STATUS without an engine fails at once with code 50, and the shim itself answers VERSION", async () => {
    const bin = join(shop.directory, "no-engine");
    mkdirSync(bin);
    // Its wait for an engine has no end.
    copyFileSync(patientShim(), join(bin, "plexus"));
    copyFileSync(patientShim(), join(bin, "delegate"));
    symlinkSync("/nonexistent", join(bin, ".plexus"));
    const ask = (name: string, CNI_COMMAND: string, more: Readonly<Record<string, string>> = {}) =>
      startShim({ shim: join(bin, name), env: { PLEXUS_SOCKET: nobody, CNI_COMMAND, ...more } }).answer;
    expect(json((await ask("plexus", "STATUS")).stdout)).toMatchObject({ code: 50 });
    expect(await ask("plexus", "VERSION")).toMatchObject({ status: 0, stdout: printVersionAnswer(), stderr: "" });
    // A component's versions are known to an engine alone, and PLEXUS_HOME asks for a certain engine.
    expect(json((await ask("delegate", "VERSION")).stdout)).toMatchObject({ code: 11 });
    expect(json((await ask("plexus", "VERSION", { PLEXUS_HOME: "/nowhere" })).stdout)).toMatchObject({ code: 11 });
  });

  test("a call that waits gets the daemon that comes, which learns how long the call has waited", async () => {
    const socket = join(shop.directory, "late.sock");
    const begun = performance.now();
    const shim = startShim({ shim: patientShim(), env: { PLEXUS_SOCKET: socket, PLEXUS_HOME: "/nonexistent/home" } });
    await handlesSignals(shim.pid);
    await setTimeout(700);
    const waited = Number((await serveOne(socket, "served")).get("PLEXUS_WAITED_MS"));
    expect((await shim.answer).stdout).toBe("served");
    // A shim that loses the processor before its search begins counts less than the test. At most the time of the test.
    expect(waited).toBeGreaterThan(350);
    expect(waited).toBeLessThanOrEqual(performance.now() - begun);
  });

  test("a signal ends the wait", async () => {
    const shim = startShim({ shim: patientShim(), env: { PLEXUS_SOCKET: nobody, PLEXUS_HOME: "/nonexistent" } });
    await handlesSignals(shim.pid);
    await setTimeout(500);
    shim.process.kill("SIGTERM");
    expect(json((await shim.answer).stdout)).toMatchObject({ code: 11, msg: expect.stringContaining("stopped by signal 15") });
  });

  test("a daemon of another version is waited for without an engine, and the error has both versions", async () => {
    const socket = join(shop.directory, "newer.sock");
    const welcome = Buffer.from([0, 0, 0, 0, PROTOCOL_VERSION + 1, 21, 0, 0, 0, 0, 0, 0]);
    const daemon = createServer((connection) => connection.on("error", () => undefined).write(welcome)).listen(socket);
    await once(daemon, "listening");
    const versions = `has protocol version ${PROTOCOL_VERSION + 1}, and this executable has version ${PROTOCOL_VERSION}`;
    expect(json((await impatient({ PLEXUS_SOCKET: socket, PLEXUS_HOME: "/nonexistent" })).stdout)).toMatchObject({
      code: 11,
      msg: expect.stringContaining(versions),
      details: expect.stringContaining("restart the daemon"),
    });
    daemon.close();
  });

  test("a daemon that gives a call back has the next engine serve it, with the same request", async () => {
    const socket = join(shop.directory, "stops.sock");
    const daemon = createServer().listen(socket);
    const counts = home("served-next", 'connected.reply({ status: 0, stdout: "next " + call.stdin.length, stderr: "" });');
    const answer = call(counts, { PLEXUS_SOCKET: socket }, large);
    const [connection] = (await once(daemon, "connection")) as [Socket];
    daemon.close();
    const engine = new EngineSide(undefined, connection);
    engine.send(0, { kind: "welcome" });
    expect((await engine.request()).stdin).toHaveLength(large.length);
    engine.reply({ status: notBegunStatus, stdout: "the daemon is stopping" });
    expect(await answer).toMatchObject({ status: 0, stdout: `next ${large.length}` });
  });

  test("a daemon that gives a call back gets no effect of a frame in the same write", async () => {
    const socket = join(shop.directory, "stops-and-asks.sock");
    const ran = join(shop.directory, "ran-after-the-call-was-given-back");
    shop.script("marks", `: > ${ran}`);
    const daemon = createServer().listen(socket);
    const counts = home(
      "served-after-frames",
      'connected.reply({ status: 0, stdout: "next " + call.stdin.length, stderr: "" });',
    );
    const answer = call(counts, { PLEXUS_SOCKET: socket });
    const [connection] = (await once(daemon, "connection")) as [Socket];
    daemon.close();
    const engine = new EngineSide(undefined, connection);
    engine.send(0, { kind: "welcome" });
    await engine.request();
    connection.cork();
    engine.reply({ status: notBegunStatus, stdout: "the daemon is stopping" });
    const caps = { deadlineMs: 20_000, stdoutCap: 1000, stderrCap: 1000 };
    engine.send(1, { kind: "exec", type: "marks", environment: new Map(), stdin: "", ...caps });
    connection.uncork();
    expect(await answer).toMatchObject({ status: 0, stdout: `next ${configuration().length}` });
    expect(existsSync(ran)).toBe(false);
  });

  test("a VERSION that is given back is answered by the shim", async () => {
    const socket = join(shop.directory, "version.sock");
    const daemon = createServer().listen(socket);
    const answer = startShim({ shim: shop.shim, env: { PLEXUS_SOCKET: socket, CNI_COMMAND: "VERSION" } }).answer;
    const [connection] = (await once(daemon, "connection")) as [Socket];
    daemon.close();
    const engine = new EngineSide(undefined, connection);
    engine.send(0, { kind: "welcome" });
    await engine.request();
    engine.reply({ status: notBegunStatus, stdout: "the daemon is stopping" });
    expect(await answer).toMatchObject({ status: 0, stdout: printVersionAnswer() });
  });

  test("a daemon that has asked for an effect cannot give the call back: the shim prints its reply", async () => {
    const answer = await callWith(
      async (engine) => {
        await engine.find("native");
        engine.reply({ status: notBegunStatus, stdout: "a reply" });
      },
      { shim: shop.shim, env: { CNI_PATH: shop.cniPath } },
    );
    expect(answer).toMatchObject({ status: 1, stdout: "a reply" });
  });

  describe("after a daemon has gone", () => {
    test("a call waits for the next one, although there is an engine", async () => {
      const socket = gone("gone");
      const answer = patient(plexusHome(), { PLEXUS_SOCKET: socket });
      await setTimeout(500);
      await serveOne(socket, "served");
      expect((await answer).stdout).toBe("served");
    });

    test("a call does not wait for ever, and not for one that has been away for longer", async () => {
      expect((await linkedBeside(gone("gone-for-good"))).stdout).toBe("linked plexus");
      // A clock that was set back does not make calls wait. The wait of this shim would not end.
      for (const agoMs of [endlessMs, -endlessMs])
        expect((await patient(plexusHome(), { PLEXUS_SOCKET: gone("gone-long", agoMs) })).stdout).toBe("linked plexus");
    });

    test("STATUS waits for the next one, if there is no engine", async () => {
      const socket = gone("gone-no-engine");
      const asked = patient("/nonexistent/home", { PLEXUS_SOCKET: socket, CNI_COMMAND: "STATUS" });
      await setTimeout(500);
      await serveOne(socket, "");
      expect(await asked).toMatchObject({ status: 0, stdout: "" });
    });

    test("STATUS does not wait for the next one, if there is an engine", async () => {
      const env = { PLEXUS_SOCKET: gone("gone-status"), CNI_COMMAND: "STATUS" };
      expect((await patient(plexusHome(), env)).stdout).toBe("linked plexus");
    });
  });

  describe("slots", () => {
    const linked = { PLEXUS_SOCKET: nobody, PLEXUS_HOME: "" };

    test("bound the engines: a call waits for a slot, then says so; DEL has a slot that no ADD takes", async () => {
      const release = await hold(1, 2, 3);
      expect(json((await impatient({ ...linked, PLEXUS_HOME: plexusHome() })).stdout)).toMatchObject({
        code: 11,
        msg: expect.stringMatching(/waited [1-9]\d* s: no daemon listens on .*, and 4 one-shot engines run already/),
      });
      const waiting = patient(plexusHome(), {});
      expect((await call(plexusHome(), { CNI_COMMAND: "DEL" })).stdout).toBe("linked plexus");
      release();
      expect((await waiting).stdout).toBe("linked plexus");
    });

    test("are freed by an engine that is killed, and held by one that outlives its shim", async () => {
      const mark = join(shop.directory, "stays.pid");
      const stays = home(
        "stays",
        `import { writeFileSync } from "node:fs";
         writeFileSync(${JSON.stringify(mark)}, String(process.pid));
         connected.reply({ status: 0, stdout: "answer", stderr: "" });
         setTimeout(() => process.exit(), 600_000);`,
      );
      const release = await hold(2, 3);
      expect((await call(stays)).stdout).toBe("answer");
      expect(json((await impatient({ ...linked, PLEXUS_HOME: plexusHome() })).stdout)).toMatchObject({ code: 11 });
      process.kill(Number(readFileSync(mark, "utf8")), "SIGKILL");
      expect((await call(plexusHome())).stdout).toBe("linked plexus");
      release();
    });

    test("in a directory that others may enter or that is a link do not bound, and nothing is written there", async () => {
      const shared = join(shop.directory, "shared");
      mkdirSync(`${shared}.one-shot`);
      chmodSync(`${shared}.one-shot`, 0o777);
      const elsewhere = join(shop.directory, "elsewhere");
      mkdirSync(elsewhere, { mode: 0o700 });
      symlinkSync(elsewhere, join(shop.directory, "links.one-shot"));
      for (const run of [shared, join(shop.directory, "links/")])
        expect((await call(plexusHome(), {}, JSON.stringify({ runDir: run }))).stdout).toBe("linked plexus");
      expect([readdirSync(`${shared}.one-shot`), readdirSync(elsewhere)]).toEqual([[], []]);
    });

    test.skipIf(missing("slots beside a daemon with a user of its own", changesUsers))(
      "FI-28: bound the engines of root, whatever a member of the daemon's group moves or makes in the run directory",
      async () => {
        const member = 1_999_999_999;
        const runDir = join(shop.directory, "group");
        mkdirSync(runDir);
        chownSync(runDir, 0, member);
        chmodSync(runDir, 0o2770);
        const stdin = JSON.stringify({ runDir });
        const engines = join(shop.directory, "engines");
        mkdirSync(engines);
        const stays = home(
          "stays-in-group",
          `import { writeFileSync } from "node:fs";
           writeFileSync(${JSON.stringify(`${engines}/`)} + process.pid, "");
           connected.reply({ status: 0, stdout: "answer", stderr: "" });
           setTimeout(() => process.exit(), 600_000);`,
        );
        try {
          for (let engine = 0; engine < 3; engine++) expect((await call(stays, {}, stdin)).stdout).toBe("answer");
          const change = 'for name in *; do [ ! -e "$name" ] || mv "$name" "moved-$name"; done; mkdir one-shot';
          const identity = ["--reuid", String(member), "--regid", String(member), "--clear-groups"];
          const changed = spawnSync("setpriv", [...identity, "sh", "-ec", change], { cwd: runDir, encoding: "utf8" });
          expect(changed).toMatchObject({ status: 0, stderr: "" });
          const shim = shop.shimWith({ SEARCH_MS: 1000 });
          expect(json((await call(stays, {}, stdin, shim)).stdout)).toMatchObject({
            code: 11,
            msg: expect.stringContaining("4 one-shot engines run already"),
          });
        } finally {
          for (const pid of readdirSync(engines)) process.kill(Number(pid), "SIGKILL");
        }
      },
    );
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
    const counts = home("counts", 'connected.reply({ status: 0, stdout: String(call.stdin.length), stderr: "" });');
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
    const answer = patient("/nonexistent/home", { PLEXUS_SOCKET: socket }, large);
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
