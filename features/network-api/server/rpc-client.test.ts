// The client against a server that is not Plexus: the feed runs in the daemon, which no answer may end.

import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Http2Server, type ServerHttp2Stream } from "node:http2";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { framed } from "../../../src/grpc/grpc-wire.ts";
import { NetworkApiClient } from "./rpc-client.ts";
import { announced } from "./testing/raw-http2.ts";

let directory: string;
let server: Http2Server;
let client: NetworkApiClient;
let answer: (stream: ServerHttp2Stream) => void;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "plexus-rpc-client-"));
  const socket = join(directory, "sock");
  server = createServer();
  server.on("stream", (stream: ServerHttp2Stream) => {
    stream.on("error", () => undefined);
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    answer(stream);
  });
  server.listen(socket);
  await once(server, "listening");
  client = new NetworkApiClient(socket);
});
afterEach(() => {
  client.close();
  server.close();
  rmSync(directory, { recursive: true });
});

const empty = framed(new Uint8Array());

test.each([
  [
    "bytes that are no message",
    (stream: ServerHttp2Stream) => stream.end(framed(new Uint8Array([0x0a, 0xff, 0xff, 0xff, 0xff, 0x7f]))),
  ],
  ["a compressed message", (stream: ServerHttp2Stream) => stream.end(Buffer.from([1, 0, 0, 0, 0]))],
  ["a message of 4 GiB", (stream: ServerHttp2Stream) => stream.end(announced(0xffff_ffff))],
  ["two answers", (stream: ServerHttp2Stream) => stream.end(Buffer.concat([empty, empty]))],
  [
    "answers without end",
    (stream: ServerHttp2Stream) => {
      const more = setInterval(() => stream.write(empty), 1);
      stream.on("close", () => clearInterval(more));
    },
  ],
])("%s: the call fails, and the next call works", async (_, hostile) => {
  answer = hostile;
  expect(await client.call("ListPodNetwork", {})).toMatchObject({
    ok: false,
    failure: { code: 13, message: expect.stringContaining("unreadable answer") },
  });
  answer = (stream) => stream.end(empty);
  expect(await client.call("ListPodNetwork", {})).toEqual({ ok: true, value: { networks: [] } });
});

test("a server that ends the connection after each answer is connected to anew", async () => {
  answer = (stream) => {
    stream.end(empty);
    stream.session?.close();
  };
  for (let index = 0; index < 10; index += 1) expect(await client.call("ListPodNetwork", {})).toMatchObject({ ok: true });
});

test("a closed client connects no more: what still calls it, such as a feed's comparison, ends with the daemon's part", async () => {
  let sessions = 0;
  server.on("session", () => (sessions += 1));
  answer = (stream) => stream.end(empty);
  expect(await client.call("ListPodNetwork", {})).toMatchObject({ ok: true });
  client.close();
  expect(await client.call("ListPodNetwork", {})).toMatchObject({
    ok: false,
    failure: { message: expect.stringContaining("closed") },
  });
  expect(sessions).toBe(1);
});
