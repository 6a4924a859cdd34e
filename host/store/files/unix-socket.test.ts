import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, statSync, symlinkSync } from "node:fs";
import { createServer, type Server, type AddressInfo, connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, onTestFinished } from "vitest";
import { listenOn, SilentConnections } from "./unix-socket.ts";

let directory: string;
const servers: Server[] = [];
const server = (): Server => {
  const made = createServer();
  servers.push(made);
  return made;
};

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-socket-"));
});
afterEach(() => {
  for (const each of servers.splice(0)) each.close();
  rmSync(directory, { recursive: true });
});

test("a socket has mode 0600, and the socket of a living daemon is not replaced", async () => {
  const path = join(directory, "made", "sock");
  expect(await listenOn(server(), path)).toMatchObject({ ok: true });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  chmodSync(path, 0o666);
  expect(await listenOn(server(), path)).toMatchObject({
    fault: { kind: "DAEMON_SOCKET", msg: expect.stringContaining("already") },
  });
});

test("a link at the socket's path is neither followed nor replaced", async () => {
  const path = join(directory, "sock");
  symlinkSync(join(directory, "elsewhere"), path);
  expect(await listenOn(server(), path)).toMatchObject({ fault: { kind: "DAEMON_SOCKET" } });
});

test("connections that cannot be accepted do not end the process", async () => {
  const listening = server();
  await listenOn(listening, join(directory, "sock"));
  // node:net reports a failed accept(2) so.
  for (let times = 0; times < 3; times += 1) listening.emit("error", new Error("accept EMFILE"));
  expect(listening.listening).toBe(true);
});

/** A server that answers each byte, and counts connections without a byte as silent. */
async function silentServer(max: number): Promise<{ readonly connected: () => Promise<Socket> }> {
  const silent = new SilentConnections(max);
  const answering = createServer((socket) => {
    silent.add(socket);
    socket
      .on("error", () => undefined)
      .on("data", (chunk) => {
        silent.delete(socket);
        socket.write(chunk);
        if (chunk.toString() === "again") silent.add(socket);
      });
  });
  answering.listen(0, "127.0.0.1");
  await once(answering, "listening");
  const address = answering.address();
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    answering.close();
  });
  return {
    async connected() {
      const socket = connect((address as AddressInfo).port, "127.0.0.1").on("error", () => undefined);
      sockets.push(socket);
      await once(socket, "connect");
      return socket;
    },
  };
}

async function answer(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  const [chunk] = await once(socket, "data");
  return String(chunk);
}

test("beyond the bound the oldest silent connection is closed, and the newest is served", async () => {
  const { connected } = await silentServer(2);
  const first = await connected();
  const second = await connected();
  const newest = await connected();
  await once(first.resume(), "close");
  expect([await answer(newest, "x"), await answer(second, "y")]).toEqual(["x", "y"]);
});

test("a connection that has sent its request is not closed for silent ones", async () => {
  const { connected } = await silentServer(2);
  const speaking = await connected();
  expect(await answer(speaking, "x")).toBe("x");
  for (let count = 0; count < 5; count++) await connected();
  expect(await answer(speaking, "y")).toBe("y");
});

test("a connection that is silent again counts from then on", async () => {
  const { connected } = await silentServer(2);
  const first = await connected();
  const second = await connected();
  expect(await answer(first, "again")).toBe("again");
  await connected();
  await once(second.resume(), "close");
  expect(await answer(first, "x")).toBe("x");
});
