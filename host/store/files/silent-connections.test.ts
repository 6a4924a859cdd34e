import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { SilentConnections } from "./silent-connections.ts";

/** A server that answers each byte, and counts connections without a byte as silent. */
async function listening(max: number): Promise<{ readonly connected: () => Promise<Socket> }> {
  const silent = new SilentConnections(max);
  const server = createServer((socket) => {
    silent.add(socket);
    socket
      .on("error", () => undefined)
      .on("data", (chunk) => {
        silent.delete(socket);
        socket.write(chunk);
        if (chunk.toString() === "again") silent.add(socket);
      });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
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
  const { connected } = await listening(2);
  const first = await connected();
  const second = await connected();
  const newest = await connected();
  await once(first.resume(), "close");
  expect([await answer(newest, "x"), await answer(second, "y")]).toEqual(["x", "y"]);
});

test("a connection that has sent its request is not closed for silent ones", async () => {
  const { connected } = await listening(2);
  const speaking = await connected();
  expect(await answer(speaking, "x")).toBe("x");
  for (let count = 0; count < 5; count++) await connected();
  expect(await answer(speaking, "y")).toBe("y");
});

test("a connection that is silent again counts from then on", async () => {
  const { connected } = await listening(2);
  const first = await connected();
  const second = await connected();
  expect(await answer(first, "again")).toBe("again");
  await connected();
  await once(second.resume(), "close");
  expect(await answer(first, "x")).toBe("x");
});
