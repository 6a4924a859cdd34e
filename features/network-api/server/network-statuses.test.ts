// Statuses while plugins hang, and while many clients list.

import { beforeEach, expect, test, vi } from "vitest";
import { parseNetworkList } from "../../../src/cni/network-list.ts";
import type { StoredNetwork } from "../rules/stored-network.ts";
import { fromConflist } from "../rules/from-conflist.ts";
import { NetworkStatuses, type StatusReply } from "./network-statuses.ts";

function network(name: string): StoredNetwork {
  const list = parseNetworkList(JSON.stringify({ cniVersion: "1.1.0", name, plugins: [{ type: "bridge" }] }), name);
  if (!list.ok) throw new Error(list.fault.msg);
  return { list: list.value, config: fromConflist({ name, namespace: "", uid: "", generation: 1 }, list.value) };
}

let running: ((reply: StatusReply) => void)[];
let statuses: NetworkStatuses;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  running = [];
  statuses = new NetworkStatuses(
    () => undefined,
    "/nowhere", // The clock that the test moves with its timers.
    { now: () => performance.now(), date: () => new Date() },
    () => new Promise((resolve) => running.push(resolve)),
  );
  return () => void vi.useRealTimers();
});

test("a STATUS that hangs runs once, however many clients list; a later one serves them when it ends", async () => {
  const asked = Array.from({ length: 20 }, () => statuses.of([network("slow")]));
  await vi.advanceTimersByTimeAsync(5000);
  asked.push(statuses.of([network("slow")]));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await Promise.all(asked)).toEqual(
    Array.from({ length: 21 }, () => [expect.objectContaining({ reason: expect.stringContaining("10 s") })]),
  );
  expect(running.length).toBe(1);
  const later = statuses.of([network("slow")]);
  running[0]?.({ status: 0, stdout: "" });
  expect(await later).toMatchObject([{ sandboxManagement: true }]);
  await vi.advanceTimersByTimeAsync(1500);
  void statuses.of([network("slow")]);
  await vi.advanceTimersByTimeAsync(0);
  expect(running.length).toBe(2);
});

test("all clients together run four STATUS calls at once; each end begins the next one", async () => {
  const names = Array.from({ length: 10 }, (_, index) => network(`n${index}`));
  const asked = [statuses.of(names), statuses.of(names.toReversed())];
  await vi.advanceTimersByTimeAsync(0);
  expect(running.length).toBe(4);
  for (let done = 0; done < 10; done += 1) {
    running[done]?.({ status: 0, stdout: "" });
    await vi.advanceTimersByTimeAsync(0);
    expect(running.length).toBe(Math.min(10, done + 5));
  }
  for (const each of await Promise.all(asked)) expect(each.every(({ connectivity }) => connectivity)).toBe(true);
});
