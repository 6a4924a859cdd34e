import { chmodSync, mkdtempSync, rmSync, statSync, symlinkSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listenOn } from "./unix-socket.ts";

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
