import { spawn } from "node:child_process";
import { once } from "node:events";
import { fstatSync, mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkedNodeVersion, readUnbuffered, socketDescriptor } from "../../../host/system/node-internals.ts";

let directory: string;
let server: Server;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-internals-"));
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

// A new Node needs a review by hand, too: it may still call `push`, but not with every chunk.
test("the internals were checked with the Node that Plexus installs", () => {
  expect(
    process.versions.node,
    "this is another release of Node: read host/system/node-internals.ts, run its tests, then change checkedNodeVersion",
  ).toBe(checkedNodeVersion);
});

test("the descriptor of a socket is at _handle.fd while it is open", async () => {
  const { near, far } = await pair();
  const fd = socketDescriptor(near);
  expect(fd, "this Node does not have the descriptor of a socket at _handle.fd").toBeGreaterThan(2);
  expect(fstatSync(fd ?? -1).isSocket(), "_handle.fd of a socket is another descriptor than the socket's").toBe(true);
  near.destroy();
  await once(near, "close");
  expect(socketDescriptor(near)).toBeUndefined();
  far.destroy();
});

test("a chunk goes to push(), not to the queue of the stream", async () => {
  const { near, far } = await pair();
  const received = new Promise<Buffer>((resolve) => readUnbuffered(near, resolve));
  far.write("chunk");
  const timeout = new Promise((resolve) =>
    setTimeout(resolve, 120_000, "this Node does not call push() of a socket with each chunk").unref(),
  );
  expect(String(await Promise.race([received, timeout]))).toBe("chunk");
  expect(near.readableLength).toBe(0);
  far.destroy();
});

test("all chunks of the peer arrive in order", async () => {
  const { near, far } = await pair();
  const chunks: Buffer[] = [];
  readUnbuffered(near, (chunk) => chunks.push(chunk));
  const sent = Buffer.from(Uint8Array.from({ length: 300_000 }, (_, index) => index % 251));
  far.write(sent.subarray(0, 7));
  far.write(sent.subarray(7));
  far.end();
  await once(near, "close");
  expect(Buffer.compare(Buffer.concat(chunks), sent)).toBe(0);
});

test("queued data is written after the peer has ended, then the socket closes", async () => {
  const { near, far } = await pair();
  const arrived: Buffer[] = [];
  far.on("data", (chunk: Buffer) => arrived.push(chunk));
  readUnbuffered(near, () => {});
  // More than the socket's send buffer.
  const answer = Buffer.alloc(4_000_000, "a");
  near.write(answer);
  far.end();
  await Promise.all([once(near, "close"), once(far, "end")]);
  expect(Buffer.concat(arrived).length).toBe(answer.length);
  far.destroy();
});

test("a socket with an error emits it and closes", async () => {
  const { near, far } = await pair();
  readUnbuffered(near, () => {});
  const errors: string[] = [];
  near.on("error", ({ message }) => errors.push(message));
  const closed = new Promise((resolve) => near.once("close", resolve));
  far.destroy();
  near.write("nobody reads this");
  await closed;
  expect(errors).toEqual([expect.stringContaining("EPIPE")]);
});

test("a process whose output is read so emits close when it has ended", async () => {
  const child = spawn("/bin/sh", ["-c", "printf one; printf two; exit 3"], { stdio: ["pipe", "pipe", "ignore"] });
  const chunks: Buffer[] = [];
  readUnbuffered(child.stdout, (chunk) => chunks.push(chunk));
  expect(await once(child, "close")).toEqual([3, null]);
  expect(Buffer.concat(chunks).toString()).toBe("onetwo");
});
