import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readStraight } from "./read-straight.ts";

let directory: string;
let server: Server;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-straight-"));
  server = createServer();
});

afterEach(() => {
  server.close();
  rmSync(directory, { recursive: true });
});

async function pair(): Promise<{ readonly near: Socket; readonly far: Socket }> {
  const path = join(directory, "socket");
  server.listen(path);
  await once(server, "listening");
  const accepted = once(server, "connection");
  const far = connect({ path, allowHalfOpen: true });
  const [near] = (await accepted) as [Socket];
  return { near, far };
}

test("what the other end writes comes in its order, whole", async () => {
  const { near, far } = await pair();
  const chunks: Buffer[] = [];
  readStraight(near, (chunk) => chunks.push(chunk));
  const sent = Buffer.from(Uint8Array.from({ length: 300_000 }, (_, index) => index % 251));
  far.write(sent.subarray(0, 7));
  far.write(sent.subarray(7));
  far.end();
  await once(near, "close");
  expect(Buffer.compare(Buffer.concat(chunks), sent)).toBe(0);
});

test("what was to be written is written after the other end has ended, then the socket closes", async () => {
  const { near, far } = await pair();
  const heard: Buffer[] = [];
  far.on("data", (chunk: Buffer) => heard.push(chunk));
  readStraight(near, () => {});
  // More than the kernel takes at once.
  const answer = Buffer.alloc(4_000_000, "a");
  near.write(answer);
  far.end();
  await Promise.all([once(near, "close"), once(far, "end")]);
  expect(Buffer.concat(heard).length).toBe(answer.length);
  far.destroy();
});

test("an error of the socket is told, and it closes", async () => {
  const { near, far } = await pair();
  readStraight(near, () => {});
  const told: string[] = [];
  near.on("error", ({ message }) => told.push(message));
  const closed = new Promise((resolve) => near.once("close", resolve));
  far.destroy();
  near.write("nobody reads this");
  await closed;
  expect(told).toEqual([expect.stringContaining("EPIPE")]);
});

test("a process whose output is read so is told of as closed when it has ended", async () => {
  const child = spawn("/bin/sh", ["-c", "printf one; printf two; exit 3"], { stdio: ["pipe", "pipe", "ignore"] });
  const chunks: Buffer[] = [];
  readStraight(child.stdout, (chunk) => chunks.push(chunk));
  expect(await once(child, "close")).toEqual([3, null]);
  expect(Buffer.concat(chunks).toString()).toBe("onetwo");
});
