// Resident hands against a brain that does what a test says: what they are for, and what becomes of them when it goes.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { startResidentHands, type TestResidentHands } from "../../test/harness/resident-hands.ts";
import { BrainSide } from "./testing/scripted-brain.ts";
import { isRunning, openWorkshop, soon, type Workshop } from "./testing/workshop.ts";

let shop: Workshop;
let listener: Listener;
const started: TestResidentHands[] = [];
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.dispose());
beforeEach(() => {
  listener = new Listener(join(shop.directory, "s"));
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((hands) => hands.stop()));
  await listener.close();
});

/** A daemon's socket, with nobody behind it but the test. */
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

  /** The next that connects; it hears WELCOME first, unless it is to speak without. */
  async brain(welcomes = true): Promise<BrainSide> {
    while (this.#arrived.length === 0) await new Promise<void>((resolve) => (this.#came = resolve));
    const [socket] = this.#arrived.splice(0, 1);
    if (socket === undefined) throw new Error("nobody has come");
    const brain = new BrainSide(undefined, socket);
    if (welcomes) brain.send(0, { kind: "welcome" });
    return brain;
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

function resident(env: Readonly<Record<string, string>> = {}): TestResidentHands {
  const hands = startResidentHands({
    command: shop.hands,
    env: { CNI_PATH: shop.cniPath, PLEXUS_SOCKET: listener.path, PATH: "/bin:/usr/bin", ...env },
  });
  started.push(hands);
  return hands;
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
const environment = new Map([
  ["CNI_COMMAND", "DEL"],
  ["PATH", "/bin:/usr/bin"],
]);

describe("resident hands", () => {
  test("say what they are, and carry out EXEC, FIND, READ and NETLINK for as long as the brain is there", async () => {
    await listener.listen();
    shop.script("says", 'cat; echo " $CNI_COMMAND"');
    const path = shop.component("a-delegate", "its bytes");
    resident({ PLEXUS_NEST: "/nowhere/.sock" });
    const brain = await listener.brain();
    const registered = await brain.resident();
    expect(registered.environment.get("CNI_PATH")).toBe(shop.cniPath);
    for (const round of ["one", "two"]) {
      const executed = await brain.exec({ type: "says", environment, stdin: round });
      expect([executed.outcome, text(executed.stdout)]).toEqual([{ kind: "exited", status: 0 }, `${round} DEL\n`]);
    }
    expect(await brain.find("a-delegate")).toMatchObject({ what: "component", path });
    expect(text((await brain.read(path)).content)).toContain("its bytes");
    expect(await brain.netlink({ path: "", request: linksDump(), deadlineMs: 5000 })).toMatchObject({ errno: 0, sent: true });
    expect((await brain.exec({ type: "../says" })).outcome).toEqual({ kind: "not-found" });
  });

  test("look for plugins in /opt/cni/bin where the environment has no CNI_PATH", async () => {
    await listener.listen();
    started.push(startResidentHands({ command: shop.hands, env: { PLEXUS_SOCKET: listener.path } }));
    const { environment: theirs } = await (await listener.brain()).resident();
    expect(theirs.get("CNI_PATH")).toBe("/opt/cni/bin");
  });

  test("serve nested calls of a plugin that they run", async () => {
    await listener.listen();
    shop.component("wasm-ipam");
    shop.script("main", 'exec "${CNI_PATH%%:*}/wasm-ipam"');
    resident();
    const brain = await listener.brain();
    const nest = join(shop.directory, "nest");
    const channel = brain.newChannel();
    const main = brain.exec({ type: "main", environment, stdin: "{}", nest }, channel);
    const { channel: nested, request } = await brain.nested();
    expect(request).toMatchObject({ name: "wasm-ipam", under: channel });
    brain.reply({ stdout: "served" }, nested);
    expect(text((await main).stdout)).toBe("served");
    expect(existsSync(nest)).toBe(false);
  });

  test("started before the daemon wait for it, saying so once, and come back to the next one", async () => {
    const hands = resident();
    expect(await soon(() => hands.stderr() !== "")).toBe(true);
    await listener.listen();
    await (await listener.brain()).resident();
    const words = `plexus hands: waiting for the daemon (${listener.path}): No such file or directory\n`;
    expect(hands.stderr().split(words)).toHaveLength(2);
    await listener.close();
    await listener.listen();
    const next = await listener.brain();
    await next.resident();
    shop.script("says", "echo again");
    expect(text((await next.exec({ type: "says", environment })).stdout)).toBe("again\n");
    expect(isRunning(hands.pid)).toBe(true);
  });

  test.each([
    ["goes", (brain: BrainSide) => brain.end()],
    ["talks nonsense", (brain: BrainSide) => brain.raw(Buffer.from("HTTP/1.1 400 Bad Request\r\n"))],
    ["speaks another version", (brain: BrainSide) => brain.raw(Uint8Array.of(0, 0, 0, 0, 1, 21, 0, 0, 0, 0, 0, 0))],
    ["replies to a call that nobody made", (brain: BrainSide) => brain.reply()],
  ])("whose brain %s kill what they run, and try again", async (_, act) => {
    await listener.listen();
    const mark = join(shop.directory, "family");
    rmSync(mark, { force: true });
    shop.script("family", `/bin/sleep 60 & echo "$! $$" > ${mark}.part; mv ${mark}.part ${mark}; wait`);
    const hands = resident();
    const brain = await listener.brain();
    await brain.resident();
    brain.send(brain.newChannel(), execOf("family"));
    expect(await soon(() => existsSync(mark))).toBe(true);
    const family = readFileSync(mark, "utf8").trim().split(" ").map(Number);
    act(brain);
    // Nothing of the stream before this one keeps them from speaking.
    const next = await listener.brain(false);
    await next.resident();
    expect(family.filter(isRunning)).toEqual([]);
    shop.script("says", "echo again");
    expect(text((await next.exec({ type: "says", environment })).stdout)).toBe("again\n");
    expect(isRunning(hands.pid)).toBe(true);
  });

  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("end on %s with status 0, and so does what they run", async (signal) => {
    await listener.listen();
    const mark = join(shop.directory, "sleeper");
    rmSync(mark, { force: true });
    shop.script("sleeps", `echo $$ > ${mark}.part; mv ${mark}.part ${mark}; exec /bin/sleep 60`);
    const hands = resident();
    const brain = await listener.brain();
    await brain.resident();
    brain.send(brain.newChannel(), execOf("sleeps"));
    expect(await soon(() => existsSync(mark))).toBe(true);
    hands.signal(signal);
    expect(await hands.stop()).toBe(0);
    expect(isRunning(Number(readFileSync(mark, "utf8")))).toBe(false);
  });

  test("that are killed take the plugin with them", async () => {
    await listener.listen();
    const mark = join(shop.directory, "orphan");
    shop.script("sleeps", `echo $$ > ${mark}.part; mv ${mark}.part ${mark}; exec /bin/sleep 60`);
    const hands = resident();
    const brain = await listener.brain();
    await brain.resident();
    brain.send(brain.newChannel(), execOf("sleeps"));
    expect(await soon(() => existsSync(mark))).toBe(true);
    hands.signal("SIGKILL");
    expect(await hands.stop()).toBe("SIGKILL");
    expect(await soon(() => !isRunning(Number(readFileSync(mark, "utf8"))))).toBe(true);
  });

  test("are not meant where a runtime calls: CNI_COMMAND makes it a call, any other argument the about-text", async () => {
    const call = startResidentHands({ command: shop.hands, env: { CNI_COMMAND: "VERSION", PLEXUS_HOME: "/nowhere" } });
    expect(await call.ended).toBe(1);
    for (const args of [["hand"], ["hands", "more"], []]) {
      const about = spawnSync(shop.hands, args, { env: {}, encoding: "utf8" });
      expect([about.status, about.stderr]).toEqual([0, expect.stringContaining("CNI protocol versions supported")]);
    }
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
