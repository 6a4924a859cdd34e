import { expect, test } from "vitest";
import type { Done } from "../../protocol/messages.ts";
import { EPERM } from "../../system/errno.ts";
import { encodeRequests, type NetlinkRequest } from "../../system/netlink/message.ts";
import { defaultRouteAddition, routesRequest } from "../../system/netlink/route.ts";
import { DryRun } from "./dry-run.ts";
import { DryShim } from "./dry-shim.ts";

const done: Done = { kind: "done", errno: 0, sent: true, reply: new TextEncoder().encode("1\0") };
const read = routesRequest(4);
const write = defaultRouteAddition({ family: 4, gateway: undefined, oif: 1 });

function openDryShim() {
  const passed: unknown[] = [];
  const pass = (effect: object): Promise<Done> => {
    passed.push(effect);
    return Promise.resolve(done);
  };
  const run = new DryRun(undefined);
  const shim = new DryShim({ netlink: pass, sysctl: pass, ensureConnected: () => undefined }, run);
  const netlink = (...requests: readonly NetlinkRequest[]): Promise<Done> =>
    shim.netlink({ path: "/run/netns/a", request: encodeRequests(requests), deadlineMs: 10 });
  return { passed, run, shim, netlink };
}

test("X-2: a shadow's netlink messages reach the shim only if all of them read", async () => {
  const { passed, netlink, shim } = openDryShim();
  expect((await netlink(read)).errno).toBe(0);
  expect((await netlink(read, read)).errno).toBe(0);
  const refusals = [
    await netlink(write),
    await netlink(read, write),
    await shim.netlink({ path: "", request: encodeRequests([read]).subarray(0, 10), deadlineMs: 10 }),
    await shim.netlink({ path: "", request: encodeRequests([read]), protocol: "netfilter", deadlineMs: 10 }),
  ];
  expect(refusals.map(({ errno, sent }) => [errno, sent])).toEqual(refusals.map(() => [EPERM, false]));
  expect(passed).toHaveLength(2);
});

test("X-2: a shadow's setting is read and never written", async () => {
  const { passed, shim } = openDryShim();
  await shim.sysctl({ path: "/run/netns/a", settings: [{ key: "net/core/somaxconn", value: "5" }] });
  expect(passed).toEqual([{ path: "/run/netns/a", settings: [{ key: "net/core/somaxconn", value: "" }] }]);
});

test("X-2: a shadow makes no tap, sends no packet, executes no plugin, and reads nothing after its end", async () => {
  const { passed, run, shim, netlink } = openDryShim();
  expect([(await shim.tap()).errno, (await shim.packet()).errno]).toEqual([EPERM, EPERM]);
  await expect(shim.exec()).rejects.toThrow("executes no plugin");
  run.end();
  expect((await netlink(read)).errno).toBe(EPERM);
  expect((await shim.sysctl({ path: "/run/netns/a", settings: [] })).errno).toBe(EPERM);
  expect(passed).toEqual([]);
});
