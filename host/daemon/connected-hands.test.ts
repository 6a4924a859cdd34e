// The daemon's end of one connection, over a real socket; the other end says what a test has it say.

import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { fault } from "../../src/fault/fault.ts";
import { encodeFrame, FrameDecoder, NESTED_CHANNEL_BIT, PROTOCOL_VERSION } from "../hands/frames.ts";
import { HandsGone, type NestedCallHandler } from "../hands/hands.ts";
import { decodeBrainMessage, encodeMessage } from "../hands/message-frames.ts";
import type { BrainMessage, HandsMessage } from "../hands/messages.ts";
import { ConnectedHands } from "./connected-hands.ts";

let directory = "";
let server: Server;
let theirs: Socket;
let ours: Socket;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "plexus-connected-"));
  server = createServer().listen(join(directory, "s"));
  await once(server, "listening");
  const accepted = once(server, "connection");
  theirs = connect(join(directory, "s"));
  theirs.on("error", () => undefined);
  [ours] = (await accepted) as [Socket];
});
afterEach(() => {
  theirs.destroy();
  ours.destroy();
  server.close();
  rmSync(directory, { recursive: true, force: true });
});

const nobody: NestedCallHandler = () => Promise.reject(new Error("nobody serves nested calls here"));
const resident = { kind: "resident", environment: new Map() } as const;
const request = { kind: "request", name: "plexus", environment: new Map(), stdin: new Uint8Array(0), under: 0 } as const;
const found = { kind: "found", what: "nothing", path: "", identity: "" } as const;
const exec = { type: "bridge", environment: new Map(), stdin: "", deadlineMs: 20, stdoutCap: 1, stderrCap: 1 } as const;

function say(channel: number, message: HandsMessage): void {
  const frame = encodeMessage(channel, message);
  const bytes = frame.ok ? encodeFrame(frame.value) : frame;
  if (!bytes.ok) throw new Error(bytes.fault.msg);
  theirs.write(bytes.value);
}

/** Hears what the daemon's end says, message by message. */
async function* heard(): AsyncGenerator<{ channel: number; message: BrainMessage }> {
  const decoder = new FrameDecoder();
  for await (const chunk of theirs) {
    decoder.push(chunk);
    for (let frame = decoder.next(); frame.ok && frame.value !== undefined; frame = decoder.next()) {
      const message = decodeBrainMessage(frame.value);
      if (message.ok) yield { channel: frame.value.channel, message: message.value };
    }
  }
}

async function connected(purpose: HandsMessage, slackMs?: number): Promise<ConnectedHands> {
  const hands = new ConnectedHands(ours, slackMs);
  say(0, purpose);
  await hands.purpose;
  return hands;
}

describe("hands at the daemon's socket", () => {
  test("that stay and don't answer count as gone, and are hung up on", async () => {
    const hands = (await connected(resident, 1)).serving(nobody);
    const waiting = [hands.exec(exec), hands.find({ type: "bridge", componentFirst: false })];
    for (const effect of waiting) await expect(effect).rejects.toThrow(/^hands: no answer to find within 1 ms$/);
    await once(theirs.resume(), "close");
    expect(() => hands.ensureThere()).toThrow(HandsGone);
  });

  test.each([0, 3 << 20])("are hung up on with the reply to their call, and get all of its %i bytes", async (length) => {
    const hands = await connected(request);
    theirs.pause();
    hands.reply({ status: 0, stdout: " ".repeat(length), stderr: "" });
    const heardAll: BrainMessage[] = [];
    for await (const { message } of heard()) heardAll.push(message);
    expect(heardAll).toEqual([{ kind: "reply", status: 0, stdout: expect.any(Uint8Array), stderr: expect.any(Uint8Array) }]);
    expect(heardAll[0]).toHaveProperty("stdout.length", length);
    await expect.poll(() => ours.closed).toBe(true);
  });

  test("of a call may take their time: the runtime bounds it", async () => {
    const hands = (await connected(request, 1)).serving(nobody);
    const effect = hands.find({ type: "bridge", componentFirst: false });
    for await (const { channel } of heard()) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      say(channel, found);
      break;
    }
    expect(await effect).toEqual(found);
  });

  test("gone amid a nested call, which finds that out, are nobody's failure", async () => {
    const gone = new HandsGone(fault("HANDS_GONE", "hands: the stream ended"));
    const called = Promise.withResolvers<void>();
    const hands = (await connected(request)).serving(async () => {
      called.resolve();
      throw gone;
    });
    const running = hands.exec(exec);
    for await (const { channel } of heard()) {
      say(NESTED_CHANNEL_BIT + 1, { ...request, under: channel });
      break;
    }
    await called.promise;
    await expect(running).rejects.toThrow(HandsGone);
  });

  test("MO-15 that have given up are told so by their WELCOME, which can't be written, whatever they had asked for", async () => {
    const hands = new ConnectedHands(ours);
    say(0, request);
    theirs.destroy();
    await once(theirs, "close");
    await expect(hands.welcome()).rejects.toThrow(/^hands: write EPIPE$/);
  });

  test("of a release with another protocol version have asked for nothing", async () => {
    const hands = new ConnectedHands(ours);
    await hands.welcome();
    const encoded = encodeMessage(0, request);
    const bytes = encoded.ok ? encodeFrame(encoded.value) : encoded;
    if (!bytes.ok) throw new Error(bytes.fault.msg);
    theirs.write(bytes.value.with(4, PROTOCOL_VERSION + 1));
    await expect(hands.purpose).rejects.toThrow(`a frame of protocol version ${PROTOCOL_VERSION + 1}`);
    await once(theirs.resume(), "close");
  });

  test("are not asked for what can't be said, and go on", async () => {
    const hands = (await connected(resident)).serving(nobody);
    await expect(hands.find({ type: "bridge\0", componentFirst: false })).rejects.toThrow("holds a NUL");
    const effect = hands.find({ type: "bridge", componentFirst: false });
    for await (const { channel } of heard()) {
      say(channel, found);
      break;
    }
    expect(await effect).toEqual(found);
  });
});
