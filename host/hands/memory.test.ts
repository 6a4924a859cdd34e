// What the hands take of a node: memory, descriptors, processes.

import { readdirSync, readFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { startResidentHands } from "../../test/harness/resident-hands.ts";
import { linksRequest } from "../netlink/link.ts";
import { encodeRequests } from "../netlink/message.ts";
import { BrainSide, callWith } from "./testing/scripted-brain.ts";
import { openWorkshop, type Workshop } from "./testing/workshop.ts";

const EPERM = 1;
const ENOENT = 2;
const mostKiB = 2048;
/** As large as the largest delegate of ours may be. */
const componentBytes = 64 * 1024;

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
  shop.script("says", "cat >/dev/null; echo '{}'");
  shop.component("wasm-ipam", "x".repeat(componentBytes - 8));
});
afterAll(() => shop.dispose());

/** The most that the process ever had in memory, its pages of the executable included. */
function peakKiB(pid: number): number {
  const [, kiB] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kiB);
}

/** Effects of each kind, as a call with a native and a WASM step has them. */
async function work(brain: BrainSide): Promise<void> {
  const environment = new Map([
    ["CNI_PATH", shop.cniPath],
    ["PATH", "/usr/bin:/bin"],
  ]);
  const { path } = await brain.find("wasm-ipam");
  expect((await brain.read(path)).content).toHaveLength(componentBytes);
  const executed = await brain.exec({ type: "says", environment, stdin: "{}", nest: join(shop.directory, "nest") });
  expect(executed.outcome).toEqual({ kind: "exited", status: 0 });
  // Of their own namespace nothing but reading: it may be the machine's.
  const settings = [{ key: "net/ipv4/ip_forward", value: "" }];
  expect(await brain.sysctl({ path: "", settings })).toMatchObject({ errno: 0, sent: true });
  expect(await brain.netlink({ path: "", request: encodeRequests([linksRequest]), deadlineMs: 5000 })).toMatchObject({
    errno: 0,
  });
  expect([0, EPERM]).toContain((await brain.packet({ path: "", index: 0, packets: [] })).errno);
  expect(await brain.tap({ path: "/nonexistent", name: "tap0", multiQueue: false })).toMatchObject({ errno: ENOENT });
}

describe("the hands", () => {
  test("of a call take 2 MiB of memory at most", async () => {
    const answer = await callWith(
      async (brain) => {
        await brain.request();
        await work(brain);
        expect(peakKiB(brain.hands.pid)).toBeGreaterThan(0);
        expect(peakKiB(brain.hands.pid)).toBeLessThanOrEqual(mostKiB);
      },
      { hands: shop.hands, env: { CNI_PATH: shop.cniPath }, stdin: JSON.stringify({ prevResult: "x".repeat(16_384) }) },
    );
    expect(answer.status).toBe(0);
  });

  test("that stay keep nothing of what they did: no memory, no descriptor, no process", async () => {
    const socket = join(shop.directory, "s");
    const server = createServer().listen(socket);
    await once(server, "listening");
    const hands = startResidentHands({ command: shop.hands, env: { CNI_PATH: shop.cniPath, PLEXUS_SOCKET: socket } });
    try {
      const [connection] = (await once(server, "connection")) as [Socket];
      const brain = new BrainSide(undefined, connection);
      await brain.resident();
      await work(brain);
      const descriptors = readdirSync(`/proc/${hands.pid}/fd`).length;
      for (let round = 0; round < 100; round++) await work(brain);
      expect(readdirSync(`/proc/${hands.pid}/fd`)).toHaveLength(descriptors);
      expect(readFileSync(`/proc/${hands.pid}/task/${hands.pid}/children`, "utf8")).toBe("");
      expect(peakKiB(hands.pid)).toBeGreaterThan(0);
      expect(peakKiB(hands.pid)).toBeLessThanOrEqual(mostKiB);
    } finally {
      await hands.stop();
      server.close();
    }
  });
});
