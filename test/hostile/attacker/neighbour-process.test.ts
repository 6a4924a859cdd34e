// Attacker: a process on the node, as another user or as the daemon's user, that holds connections to the daemon's sockets: silent ones, half
// requests, and requests whose answers it never reads. It never lets go of them, and the next client must be served all the same: what the
// attack costs the daemon is bounded in CPU time.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync } from "node:fs";
import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { PROTOCOL_VERSION } from "../../../host/protocol/frames.ts";
import { startDaemon, type TestDaemon } from "../../lab/daemon.ts";
import { httpRequest } from "../../lab/http-request.ts";
import { type Answer, installPlexus, type Installation } from "../../lab/plexus.ts";
import { cpuMsOf } from "../../lab/cpu-ms.ts";
import { missing, type Requirement } from "../../lab/requires.ts";

/** Maximum CPU time that an attack and the clients after it cost the daemon, in ms. */
const maxCpuMs = 3000;
/** Connections without a request that the daemon keeps. */
const maxSilent = 64;

const anotherUid: Requirement = () =>
  spawnSync("setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", "true"]).status === 0
    ? undefined
    : "this user namespace maps no other uid";

/** Opens connections one after the other; each sends `text` and reads nothing. */
async function hold(where: string | number, count: number, text: string | Buffer): Promise<readonly Socket[]> {
  const held: Socket[] = [];
  onTestFinished(() => held.forEach((each) => void each.destroy()));
  for (let number = 0; number < count; number++) {
    const connection = typeof where === "string" ? connect(where) : connect(where, "127.0.0.1");
    held.push(connection.on("error", () => undefined).pause());
    await Promise.race([once(connection, "connect"), once(connection, "close")]);
    if (text.length > 0) connection.write(text);
  }
  return held;
}

const scrape = async (where: string | number): Promise<number> => (await httpRequest(where, "/metrics")).status;

describe("a process that holds connections", () => {
  let plexus: Installation;
  let daemon: TestDaemon;
  const socket = (): string => join(plexus.directory, "daemon", "plexus.sock");
  const statusSocket = (): string => join(dirname(socket()), "status.sock");
  const port = (): number => Number(/serves metrics on 127\.0\.0\.1:(\d+)/.exec(daemon.stderr())?.[1]);
  // One daemon for all tests: each test also shows that the daemon recovers from the attack before.
  beforeAll(async () => {
    plexus = installPlexus();
    const args = ["--metrics-listen", "0", "--calls", "4", "--queue", "2", "--state-dir", plexus.state("cni")];
    daemon = await startDaemon({ socket: socket(), args });
  });
  let cpuBefore = 0;
  beforeEach(() => {
    cpuBefore = cpuMsOf(daemon.pid);
  });
  const expectLittleCpu = (): void => {
    expect(cpuMsOf(daemon.pid) - cpuBefore).toBeLessThan(maxCpuMs);
  };
  afterAll(async () => {
    await daemon.stop();
    plexus.dispose();
  });

  /** A call that only the daemon can serve. */
  const version = (): Promise<Answer> =>
    plexus.call({ verb: "VERSION", env: { PLEXUS_SOCKET: socket(), PLEXUS_HOME: "/nowhere" } });
  const half = Buffer.from([200, 0, 0, 0, PROTOCOL_VERSION, 1, 0, 0, 0, 0, 0, 0, 1, 2, 3]);
  test.each<[string, number, string | Buffer]>([
    ["70 silent connections", 70, ""],
    ["70 half requests", 70, half],
    ["300 silent connections", 300, ""],
  ])("on the call socket does not delay the next call: %s", async (_, count, text) => {
    const held = await hold(socket(), count, text);
    // The oldest connections are closed first, because a shim may need a moment for its request.
    const ends: number[] = [];
    for (const [index, each] of held.entries()) {
      if (each.destroyed) ends.push(index);
      else each.on("close", () => ends.push(index)).resume();
    }
    const beyond = count - maxSilent;
    await expect.poll(() => ends.length).toBeGreaterThanOrEqual(beyond);
    expect(Math.max(...ends.slice(0, beyond))).toBe(beyond - 1);
    for (let calls = 0; calls < 5; calls++) expect((await version()).status).toBe(0);
    expectLittleCpu();
  });

  const head = "GET /metrics HTTP/1.1\r\nHost: x\r\n";
  const connections: readonly [string, number, string][] = [
    ["32 silent connections", 32, ""],
    ["32 half requests", 32, head],
    ["200 silent connections", 200, ""],
    ["200 half requests", 200, head],
    ["40 clients that send 200 requests and read no answer", 40, `${head}\r\n`.repeat(200)],
    ["40 clients that send 4 requests and read no answer", 40, `${head}\r\n`.repeat(4)],
    ["200 idle clients that were answered", 200, `${head}\r\n`],
  ];
  test.each(connections)("on the metrics port does not delay the next scrape: %s", async (_, count, text) => {
    await hold(port(), count, text);
    for (let scrapes = 0; scrapes < 5; scrapes++) expect(await scrape(port())).toBe(200);
    expectLittleCpu();
  });

  test.each(connections)("on the status socket does not delay plexusctl: %s", async (_, count, text) => {
    await hold(statusSocket(), count, text);
    for (let scrapes = 0; scrapes < 5; scrapes++) expect(await scrape(statusSocket())).toBe(200);
    expectLittleCpu();
  });

  test("on the metrics port does not close a scraper's connection", async () => {
    const scraper = connect(port(), "127.0.0.1");
    onTestFinished(() => void scraper.destroy());
    let answers = "";
    scraper.on("data", (chunk: Buffer) => (answers += chunk.toString("latin1")));
    scraper.write("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
    await expect.poll(() => answers).toContain("405");
    await hold(port(), 20, "");
    scraper.write(`${head}\r\n`);
    await expect.poll(() => answers).toContain("plexus_build_info");
  });

  /** Holds a silent connection and a half request until the server has closed both. */
  async function closed(where: number): Promise<void> {
    const held = [...(await hold(where, 1, "")), ...(await hold(where, 1, head))];
    await Promise.all(held.map((each) => once(each.resume(), "close")));
  }
  test("loses a silent connection to the metrics port, and a half request too, long before Node's own limits close them", async () => {
    // A server with Node's own limits, one minute and more.
    const usual = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void usual.close());
    await once(usual, "listening");
    const address = usual.address();
    const usualPort = typeof address === "object" ? (address?.port ?? 0) : 0;
    const first = await Promise.race([closed(usualPort).then(() => "Node's"), closed(port()).then(() => "the daemon's")]);
    expect(first).toBe("the daemon's");
  });

  test.skipIf(missing("connections of another uid", anotherUid))(
    "as another user keeps no connection to call and status socket, whatever their mode",
    async () => {
      chmodSync(plexus.directory, 0o755);
      for (const path of [socket(), statusSocket()]) chmodSync(path, 0o666);
      // Connects again whenever a connection is closed, until it is killed.
      const program = `const { connect } = require("node:net");
        const hold = (path) => connect(path).on("error", () => {}).on("close", () => setTimeout(hold, 20, path));
        for (let count = 0; count < 100; count++) for (const path of process.argv.slice(1)) hold(path);
        setTimeout(() => console.log("holding"), 500);`;
      const attacker = spawn(
        "setpriv",
        ["--reuid=65534", "--regid=65534", "--clear-groups", process.execPath, "-e", program, socket(), statusSocket()],
        { stdio: ["ignore", "pipe", "inherit"], env: {} },
      );
      onTestFinished(() => void attacker.kill("SIGKILL"));
      await once(attacker.stdout, "data");
      for (let calls = 0; calls < 3; calls++) {
        expect((await version()).status).toBe(0);
        expect(await scrape(statusSocket())).toBe(200);
      }
    },
  );
});
