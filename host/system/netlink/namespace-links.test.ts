import { expect, test } from "vitest";
import { lookIntoNamespace } from "./namespace-links.ts";
import type { NetlinkSender } from "./exchange.ts";
import { putU16, putU32 } from "./bytes.ts";

/** An empty dump that is done, with the flag NLM_F_DUMP_INTR if changes interrupted it. */
function emptyDump(isInterrupted: boolean): Uint8Array {
  const reply = new Uint8Array(20);
  putU32(reply, 0, 20);
  putU16(reply, 4, 3);
  putU16(reply, 6, isInterrupted ? 0x12 : 0x2);
  putU32(reply, 8, 1);
  return reply;
}

/** Answers so many interrupted dumps, then whole ones. */
function sender(interrupted: number): NetlinkSender & { asked: number } {
  const own: NetlinkSender & { asked: number } = {
    asked: 0,
    netlink: async () => {
      own.asked += 1;
      return { errno: 0, sent: true, reply: emptyDump(own.asked <= interrupted) };
    },
  };
  return own;
}

test("a list of links that changes interrupt is asked again, and a list that is never whole is a fault, not an empty namespace", async () => {
  const some = sender(4);
  expect(await lookIntoNamespace(some, "/run/netns/pod")).toMatchObject({ ok: true, value: { links: [] } });
  expect(some.asked).toBe(5);
  const refused = await lookIntoNamespace(sender(Infinity), "/run/netns/pod");
  expect(refused).toMatchObject({ ok: false, fault: { kind: "NETLINK_FAILED" } });
  expect(refused).toHaveProperty("fault.msg", expect.stringContaining("interrupted the list 5 times"));
});
