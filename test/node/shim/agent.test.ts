// The agent against an engine that a test scripts: its effects, and its behaviour when the engine goes away.

import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { startAgent, type TestAgent } from "../../lab/agent.ts";
import { EngineSide } from "./testing/scripted-engine.ts";
import { isRunning, openWorkshop, soon, type Workshop } from "./testing/workshop.ts";

let shop: Workshop;
let listener: Listener;
const started: TestAgent[] = [];
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.dispose());
beforeEach(() => {
  listener = new Listener(join(shop.directory, "s"));
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((shim) => shim.stop()));
  await listener.close();
});

/** A daemon's socket, on which the test itself listens. */
class Listener {
  readonly path: string;
  readonly #arrived: Socket[] = [];
  readonly #open = new Set<Socket>();
  #server: Server | undefined;
  #came: () => void = () => undefined;

  constructor(path: string) {
    this.path = path;
  }

  async listen(): Promise<void> {
    rmSync(this.path, { force: true });
    this.#server = createServer((socket) => {
      this.#open.add(socket);
      this.#arrived.push(socket);
      this.#came();
    });
    this.#server.listen(this.path);
    await once(this.#server, "listening");
  }

  /** The next connection; the test sends WELCOME at once unless told otherwise. */
  async engine(welcomes = true): Promise<EngineSide> {
    while (this.#arrived.length === 0) await new Promise<void>((resolve) => (this.#came = resolve));
    const [socket] = this.#arrived.splice(0, 1);
    if (socket === undefined) throw new Error("no agent has connected");
    const engine = new EngineSide(undefined, socket);
    if (welcomes) engine.send(0, { kind: "welcome" });
    return engine;
  }

  async close(): Promise<void> {
    const closed = this.#server === undefined ? undefined : once(this.#server, "close");
    this.#server?.close();
    this.#server = undefined;
    for (const socket of this.#open) socket.destroy();
    this.#open.clear();
    await closed;
  }
}

function agent(env: Readonly<Record<string, string>> = {}): TestAgent {
  const shim = startAgent({
    command: shop.shim,
    env: { CNI_PATH: shop.cniPath, PLEXUS_SOCKET: listener.path, PATH: "/bin:/usr/bin", ...env },
  });
  started.push(shim);
  return shim;
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
const environment = new Map([["CNI_COMMAND", "DEL"]]);

describe("agent", () => {
  test("sends AGENT, and carries out EXEC, FIND, READ and NETLINK while the engine is connected", async () => {
    await listener.listen();
    shop.script("says", 'cat; echo " $CNI_COMMAND"');
    const path = shop.component("a-delegate", "its bytes");
    agent({ PLEXUS_NESTED_CALLS: "/nowhere/.sock" });
    const engine = await listener.engine();
    const registered = await engine.agent();
    expect(registered.environment.get("CNI_PATH")).toBe(shop.cniPath);
    for (const round of ["one", "two"]) {
      const executed = await engine.exec({ type: "says", environment, stdin: round });
      expect([executed.outcome, text(executed.stdout)]).toEqual([{ kind: "exited", status: 0 }, `${round} DEL\n`]);
    }
    expect(await engine.find("a-delegate")).toMatchObject({ what: "component", path });
    expect(text((await engine.read(path)).content)).toContain("its bytes");
    expect(await engine.netlink({ path: "", request: linksDump(), deadlineMs: 60_000 })).toMatchObject({ errno: 0, sent: true });
    expect((await engine.exec({ type: "../says" })).outcome).toEqual({ kind: "not-found" });
  });

  test("looks for plugins in /opt/cni/bin if the environment has no CNI_PATH", async () => {
    await listener.listen();
    started.push(startAgent({ command: shop.shim, env: { PLEXUS_SOCKET: listener.path } }));
    const { environment: theirs } = await (await listener.engine()).agent();
    expect(theirs.get("CNI_PATH")).toBe("/opt/cni/bin");
  });

  test("serves nested calls of its plugin", async () => {
    await listener.listen();
    shop.component("wasm-ipam");
    shop.script("main", 'exec "${CNI_PATH%%:*}/wasm-ipam"');
    agent();
    const engine = await listener.engine();
    const name = "0123456789abcdef";
    const channel = engine.newChannel();
    const main = engine.exec({ type: "main", environment, stdin: "{}", nestedCallDirectory: name }, channel);
    const { channel: nested, request } = await engine.nested();
    expect(request).toMatchObject({ name: "wasm-ipam", under: channel });
    engine.reply({ stdout: "served" }, nested);
    expect(text((await main).stdout)).toBe("served");
  });

  test("started before the daemon logs once that it waits, and reconnects to the next daemon", async () => {
    const shim = agent();
    expect(await soon(() => shim.stderr() !== "")).toBe(true);
    await listener.listen();
    await (await listener.engine()).agent();
    const line = `plexus agent: waiting for the daemon (${listener.path}): No such file or directory\n`;
    expect(shim.stderr().split(line)).toHaveLength(2);
    await listener.close();
    await listener.listen();
    const next = await listener.engine();
    await next.agent();
    shop.script("says", "echo again");
    expect(text((await next.exec({ type: "says", environment })).stdout)).toBe("again\n");
    expect(isRunning(shim.pid)).toBe(true);
  });

  test.each([
    ["goes", (engine: EngineSide) => engine.end()],
    ["talks nonsense", (engine: EngineSide) => engine.raw(Buffer.from("HTTP/1.1 400 Bad Request\r\n"))],
    ["speaks another version", (engine: EngineSide) => engine.raw(Uint8Array.of(0, 0, 0, 0, 1, 21, 0, 0, 0, 0, 0, 0))],
    ["replies to a call that nobody made", (engine: EngineSide) => engine.reply()],
  ])("whose engine %s kills its plugins, and reconnects", async (_, act) => {
    await listener.listen();
    const mark = join(shop.directory, "family");
    rmSync(mark, { force: true });
    shop.script("family", `/bin/sleep 60 & echo "$! $$" > ${mark}.part; mv ${mark}.part ${mark}; wait`);
    const shim = agent();
    const engine = await listener.engine();
    await engine.agent();
    engine.send(engine.newChannel(), execOf("family"));
    expect(await soon(() => existsSync(mark))).toBe(true);
    const family = readFileSync(mark, "utf8").trim().split(" ").map(Number);
    act(engine);
    // The previous stream does not affect the new one.
    const next = await listener.engine(false);
    await next.agent();
    expect(family.filter(isRunning)).toEqual([]);
    shop.script("says", "echo again");
    expect(text((await next.exec({ type: "says", environment })).stdout)).toBe("again\n");
    expect(isRunning(shim.pid)).toBe(true);
  });

  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("ends on %s with status 0, and kills its plugins", async (signal) => {
    await listener.listen();
    const mark = join(shop.directory, "sleeper");
    rmSync(mark, { force: true });
    shop.script("sleeps", `echo $$ > ${mark}.part; mv ${mark}.part ${mark}; exec /bin/sleep 60`);
    const shim = agent();
    const engine = await listener.engine();
    await engine.agent();
    engine.send(engine.newChannel(), execOf("sleeps"));
    expect(await soon(() => existsSync(mark))).toBe(true);
    shim.signal(signal);
    expect(await shim.stop()).toBe(0);
    expect(isRunning(Number(readFileSync(mark, "utf8")))).toBe(false);
  });

  test("its plugin ends when the agent is killed", async () => {
    await listener.listen();
    const mark = join(shop.directory, "orphan");
    shop.script("sleeps", `echo $$ > ${mark}.part; mv ${mark}.part ${mark}; exec /bin/sleep 60`);
    const shim = agent();
    const engine = await listener.engine();
    await engine.agent();
    engine.send(engine.newChannel(), execOf("sleeps"));
    expect(await soon(() => existsSync(mark))).toBe(true);
    shim.signal("SIGKILL");
    expect(await shim.stop()).toBe("SIGKILL");
    expect(await soon(() => !isRunning(Number(readFileSync(mark, "utf8"))))).toBe(true);
  });

  test("does not run for a call: CNI_COMMAND makes it a call, another argument prints the about-text", async () => {
    const call = startAgent({ command: shop.shim, env: { CNI_COMMAND: "VERSION", PLEXUS_HOME: "/nowhere" } });
    expect(await call.ended).toBe(1);
    for (const args of [["agen"], ["shim"], []]) {
      const about = spawnSync(shop.shim, args, { env: {}, encoding: "utf8" });
      expect([about.status, about.stderr]).toEqual([0, expect.stringContaining("CNI protocol versions supported")]);
    }
    for (const options of [["more"], ["--netlink-only", "more"]]) {
      const wrong = spawnSync(shop.shim, ["agent", ...options], { env: {}, encoding: "utf8" });
      expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringMatching(/more is not an option; .* --netlink-only/)]);
    }
  });

  test("with --netlink-only says so, executes no plugin, and carries out the other effects", async () => {
    await listener.listen();
    const mark = join(shop.directory, "ran");
    shop.script("never", `touch ${mark}`);
    const path = shop.component("a-delegate", "its bytes");
    started.push(
      startAgent({
        command: shop.shim,
        options: ["--netlink-only"],
        env: { CNI_PATH: shop.cniPath, PLEXUS_SOCKET: listener.path },
      }),
    );
    const engine = await listener.engine();
    expect((await engine.agent()).environment.get("PLEXUS_AGENT")).toBe("netlink-only");
    expect((await engine.exec({ type: "never", environment })).outcome).toEqual({ kind: "not-startable", errno: 1 });
    expect((await engine.exec({ type: "absent", environment })).outcome).toEqual({ kind: "not-found" });
    expect(await engine.find("a-delegate")).toMatchObject({ what: "component", path });
    expect(await engine.netlink({ path: "", request: linksDump(), deadlineMs: 60_000 })).toMatchObject({ errno: 0, sent: true });
    expect(existsSync(mark)).toBe(false);
  });
});

function execOf(type: string) {
  return { kind: "exec", type, environment, stdin: "", deadlineMs: 60_000, stdoutCap: 4096, stderrCap: 4096 } as const;
}

/** RTM_GETLINK of all links, acknowledged (struct nlmsghdr and ifinfomsg). */
function linksDump(): Uint8Array {
  const message = Buffer.alloc(32);
  message.writeUInt32LE(32, 0);
  message.writeUInt16LE(18, 4);
  message.writeUInt16LE(0x305, 6);
  return message;
}

test("FI-18: with --root the agent is the one of that root directory, which sees only files below it", async () => {
  const root = join(shop.directory, "root");
  mkdirSync(join(root, "bin"), { recursive: true });
  copyFileSync(shop.shim, join(root, "bin", "plexus"));
  const inside = new Listener(join(root, "s"));
  await inside.listen();
  try {
    const env = { PLEXUS_SOCKET: "/s", CNI_PATH: "/bin" };
    started.push(startAgent({ command: shop.shim, options: ["--root", root], env }));
    const engine = await inside.engine(false);
    expect((await engine.agent()).environment.get("CNI_PATH")).toBe("/bin");
  } finally {
    await inside.close();
  }
  const wrong = spawnSync(shop.shim, ["agent", "--root", join(root, "bin")], { encoding: "utf8", env: { CNI_PATH: "/bin" } });
  expect([wrong.status, wrong.stderr]).toEqual([1, expect.stringContaining("/bin/plexus in ")]);
});
