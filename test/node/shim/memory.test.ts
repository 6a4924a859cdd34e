// The shim's use of resources: memory, descriptors, processes.

import { readdirSync, readFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { encodeFrame } from "../../../host/protocol/frames.ts";
import { encodeMessage } from "../../../host/protocol/message-codec.ts";
import { startAgent } from "../../lab/agent.ts";
import { linksRequest } from "../../../host/system/netlink/link.ts";
import { encodeRequests } from "../../../host/system/netlink/message.ts";
import { EngineSide, callWith, type ShimAnswer } from "./testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "./testing/workshop.ts";
import { ENOENT, EXDEV } from "../../../host/system/errno.ts";

const maxKiB = 2048;
/** The maximum size of a component in this project. */
const componentBytes = 64 * 1024;

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
  shop.script("says", "cat >/dev/null; echo '{}'");
  shop.component("wasm-ipam", "x".repeat(componentBytes - 8));
});
afterAll(() => shop.dispose());

/** The process' maximum resident set, including pages of the executable. */
function peakKiB(pid: number): number {
  const [, kiB] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kiB);
}

/** The bytes of a question for a component. */
function question(channel: number, path: string): Uint8Array {
  const frame = encodeMessage(channel, { kind: "read", path, cap: 1 << 25 });
  const bytes = frame.ok ? encodeFrame(frame.value) : frame;
  if (!bytes.ok) throw new Error(bytes.fault.msg);
  return bytes.value;
}

/** Effects of each kind, like those of a call with a native and a WASM step. */
async function work(engine: EngineSide): Promise<void> {
  const environment = new Map([["CNI_COMMAND", "ADD"]]);
  const { path } = await engine.find("wasm-ipam");
  expect((await engine.read(path)).content).toHaveLength(componentBytes);
  const executed = await engine.exec({
    type: "says",
    environment,
    stdin: "{}",
    nestedCallDirectory: "0123456789abcdef",
  });
  expect(executed.outcome).toEqual({ kind: "exited", status: 0 });
  // Only reads in the shim's own namespace, which may be the machine's.
  const settings = [{ key: "net/ipv4/ip_forward", value: "" }];
  expect(await engine.sysctl({ path: "", settings })).toMatchObject({ errno: 0, sent: true });
  expect(await engine.netlink({ path: "", request: encodeRequests([linksRequest]), deadlineMs: 60_000 })).toMatchObject({
    errno: 0,
  });
  expect(await engine.packet({ path: "", index: 0, packets: [] })).toMatchObject({ errno: EXDEV });
  const ask = { index: 1, answers: "arp", keys: [Buffer.alloc(4)], packets: [], deadlineMs: 0, maxAnswers: 1 } as const;
  expect(await engine.ask({ path: "", ...ask })).toMatchObject({ errno: EXDEV });
  expect(await engine.tap({ path: "/nonexistent", name: "tap0", multiQueue: false })).toMatchObject({ errno: ENOENT });
}

describe("the shim", () => {
  test("takes at most 2 MiB of memory for a call", async () => {
    const answer = await callWith(
      async (engine) => {
        await engine.request();
        await work(engine);
        expect(peakKiB(engine.shim.pid)).toBeGreaterThan(0);
        expect(peakKiB(engine.shim.pid)).toBeLessThanOrEqual(maxKiB);
      },
      {
        shim: shop.shim,
        env: { CNI_PATH: shop.cniPath },
        stdin: JSON.stringify({ runDir: shop.directory, prevResult: "x".repeat(16_384) }),
      },
    );
    expect(answer.status).toBe(0);
  });

  test("ends the call when an engine asks for more than may wait for it, also within one message of the stream", async () => {
    shop.component("large", "x".repeat(8 << 20));
    // More than may wait, and less than the answers to all questions.
    const limited = shop.script("limited", `ulimit -v 500000; exec ${shop.shim}`);
    const answers: ShimAnswer[] = [];
    await callWith(
      async (engine) => {
        await engine.request();
        const { path } = await engine.find("large");
        engine.raw(Buffer.concat(Array.from({ length: 60 }, (_, index) => question(1000 + index, path))));
        answers.push(await engine.shim.answer);
      },
      { shim: limited, env: { CNI_PATH: shop.cniPath }, stdin: JSON.stringify({ runDir: shop.directory }) },
    );
    expect(answers.map(({ status, stdout }) => [status, stdout])).toEqual([
      [1, expect.stringContaining("bytes of answers wait for the engine")],
    ]);
  });

  test("keeps no memory, descriptor or process after an effect", async () => {
    const socket = join(shop.directory, "s");
    const server = createServer().listen(socket);
    await once(server, "listening");
    const shim = startAgent({
      command: shop.shim,
      env: { CNI_PATH: shop.cniPath, PLEXUS_SOCKET: socket },
    });
    try {
      const [connection] = (await once(server, "connection")) as [Socket];
      const engine = new EngineSide(undefined, connection);
      await engine.agent();
      await work(engine);
      const descriptors = readdirSync(`/proc/${shim.pid}/fd`).length;
      for (let round = 0; round < 100; round++) await work(engine);
      expect(readdirSync(`/proc/${shim.pid}/fd`)).toHaveLength(descriptors);
      expect(readFileSync(`/proc/${shim.pid}/task/${shim.pid}/children`, "utf8")).toBe("");
      expect(peakKiB(shim.pid)).toBeGreaterThan(0);
      expect(peakKiB(shim.pid)).toBeLessThanOrEqual(maxKiB);
    } finally {
      await shim.stop();
      server.close();
    }
  });
});
