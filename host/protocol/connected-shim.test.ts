// The daemon's end of a connection, over a real socket. Each test sends the shim's messages.

import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { fault } from "../../src/fault/fault.ts";
import { encodeFrame, FrameDecoder, NESTED_CHANNEL_BIT, PROTOCOL_VERSION } from "./frames.ts";
import { ShimGone, type NestedCallHandler } from "./shim.ts";
import { encodeMessage } from "./message-codec.ts";
import { decodeEngineMessage } from "./testing/decode-engine-message.ts";
import type { EngineMessage, ShimMessage } from "./messages.ts";
import { ConnectedShim } from "./connected-shim.ts";

let directory = "";
let server: Server;
let shimEnd: Socket;
let daemonEnd: Socket;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "plexus-connected-"));
  server = createServer().listen(join(directory, "s"));
  await once(server, "listening");
  const accepted = once(server, "connection");
  shimEnd = connect(join(directory, "s"));
  shimEnd.on("error", () => undefined);
  [daemonEnd] = (await accepted) as [Socket];
});
afterEach(() => {
  shimEnd.destroy();
  daemonEnd.destroy();
  server.close();
  rmSync(directory, { recursive: true, force: true });
});

const noNestedCalls: NestedCallHandler = () => Promise.reject(new Error("this test serves no nested calls"));
const agent = { kind: "agent", environment: new Map() } as const;
const request = { kind: "request", name: "plexus", environment: new Map(), stdin: new Uint8Array(0), under: 0 } as const;
const found = { kind: "found", what: "nothing", path: "", identity: "" } as const;
const exec = { type: "bridge", environment: new Map(), stdin: "", deadlineMs: 20, stdoutCap: 1, stderrCap: 1 } as const;

function send(channel: number, message: ShimMessage): void {
  const frame = encodeMessage(channel, message);
  const bytes = frame.ok ? encodeFrame(frame.value) : frame;
  if (!bytes.ok) throw new Error(bytes.fault.msg);
  shimEnd.write(bytes.value);
}

/** The messages from the daemon's end. */
async function* messagesFromDaemon(): AsyncGenerator<{ channel: number; message: EngineMessage }> {
  const decoder = new FrameDecoder();
  for await (const chunk of shimEnd) {
    decoder.push(chunk);
    for (let frame = decoder.next(); frame.ok && frame.value !== undefined; frame = decoder.next()) {
      const message = decodeEngineMessage(frame.value);
      if (message.ok) yield { channel: frame.value.channel, message: message.value };
    }
  }
}

async function connected(purpose: ShimMessage, slackMs?: number): Promise<ConnectedShim> {
  const shim = new ConnectedShim(daemonEnd, slackMs);
  send(0, purpose);
  await shim.purpose;
  return shim;
}

describe("a shim at the daemon's socket", () => {
  test("is gone and loses its connection if it is an agent that does not answer", async () => {
    const shim = (await connected(agent, 1)).serving(noNestedCalls);
    // `find` comes first: on a busy machine its time would otherwise begin after that of `exec` has ended.
    const waiting = [shim.find({ type: "bridge", componentFirst: false }), shim.exec(exec)];
    for (const effect of waiting) await expect(effect).rejects.toThrow(/^shim: no answer to find within 1 ms$/);
    await once(shimEnd.resume(), "close");
    expect(() => shim.ensureConnected()).toThrow(ShimGone);
  });

  test.each([0, 3 << 20])("loses its connection with the reply to its call, and gets all of its %i bytes", async (length) => {
    const shim = await connected(request);
    shimEnd.pause();
    shim.reply({ status: 0, stdout: " ".repeat(length), stderr: "" });
    const messages: EngineMessage[] = [];
    for await (const { message } of messagesFromDaemon()) messages.push(message);
    expect(messages).toEqual([{ kind: "reply", status: 0, stdout: expect.any(Uint8Array), stderr: expect.any(Uint8Array) }]);
    expect(messages[0]).toHaveProperty("stdout.length", length);
    await expect.poll(() => daemonEnd.closed).toBe(true);
  });

  test("has no time limit in a call, which the runtime limits", async () => {
    const shim = (await connected(request, 1)).serving(noNestedCalls);
    const effect = shim.find({ type: "bridge", componentFirst: false });
    for await (const { channel } of messagesFromDaemon()) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      send(channel, found);
      break;
    }
    expect(await effect).toEqual(found);
  });

  test("that goes during a nested call causes no unhandled rejection", async () => {
    const gone = new ShimGone(fault("SHIM_GONE", "shim: the stream ended"));
    const called = Promise.withResolvers<void>();
    const shim = (await connected(request)).serving(async () => {
      called.resolve();
      throw gone;
    });
    const running = shim.exec(exec);
    for await (const { channel } of messagesFromDaemon()) {
      send(NESTED_CHANNEL_BIT + 1, { ...request, under: channel });
      break;
    }
    await called.promise;
    await expect(running).rejects.toThrow(ShimGone);
  });

  test("MO-15: that has given up makes the write of WELCOME fail", async () => {
    const shim = new ConnectedShim(daemonEnd);
    send(0, request);
    shimEnd.destroy();
    await once(shimEnd, "close");
    await expect(shim.welcome()).rejects.toThrow(/^shim: write EPIPE$/);
  });

  test("of another protocol version is refused without a call", async () => {
    const shim = new ConnectedShim(daemonEnd);
    await shim.welcome();
    const encoded = encodeMessage(0, request);
    const bytes = encoded.ok ? encodeFrame(encoded.value) : encoded;
    if (!bytes.ok) throw new Error(bytes.fault.msg);
    shimEnd.write(bytes.value.with(4, PROTOCOL_VERSION + 1));
    await expect(shim.purpose).rejects.toThrow(`a frame of protocol version ${PROTOCOL_VERSION + 1}`);
    await once(shimEnd.resume(), "close");
  });

  test("keeps its connection after an effect that cannot be encoded", async () => {
    const shim = (await connected(agent)).serving(noNestedCalls);
    await expect(shim.find({ type: "bridge\0", componentFirst: false })).rejects.toThrow("contains a NUL");
    const effect = shim.find({ type: "bridge", componentFirst: false });
    for await (const { channel } of messagesFromDaemon()) {
      send(channel, found);
      break;
    }
    expect(await effect).toEqual(found);
  });
});
