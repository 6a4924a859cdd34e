import { expect, test } from "vitest";
import { attribute, encodeRequests } from "../../../host/system/netlink/message.ts";
import { concat, cString } from "../../../host/system/netlink/bytes.ts";
import {
  IFLA_IFNAME,
  IFLA_INFO_KIND,
  IFLA_LINKINFO,
  ifinfomsg,
  RTM_NEWLINK,
} from "../../../host/system/netlink/link-attributes.ts";
import type { LinkFault } from "../rules/judge-link.ts";
import { LostLinks } from "./lost-links.ts";
import { NodeLinks } from "./node-links.ts";

const gone = (why: string): LinkFault => ({ kind: "gone", why, mayRepair: true });

/** Pauses before tries that come as soon as they may. */
function pauses(lost: LostLinks, repaired: boolean): readonly number[] {
  const found: number[] = [];
  for (let nowMs = 0; found.length < 5;) {
    found.push(lost.pauseMs("one", "net1", nowMs));
    nowMs += found.at(-1) ?? 0;
    lost.noteTry("one", "net1", nowMs, repaired);
    lost.hurry();
  }
  return found;
}

test("WA-03: a new master shortens the pause after a failure, and not that of a link that is lost again after each repair", () => {
  expect(pauses(new LostLinks(), false)).toEqual([0, 1000, 1000, 1000, 1000]);
  expect(pauses(new LostLinks(), true)).toEqual([0, 1000, 2000, 4000, 8000]);
});

/** Whether a new link of this kind counts as one that may be a master. */
async function made(kind: string): Promise<boolean | undefined> {
  const info = attribute(IFLA_LINKINFO, attribute(IFLA_INFO_KIND, cString(kind)));
  const body = concat([ifinfomsg(7), attribute(IFLA_IFNAME, cString("new0")), info]);
  const done = { kind: "done", errno: 0, sent: true, reply: encodeRequests([{ type: RTM_NEWLINK, flags: 0, body }]) } as const;
  return (await new NodeLinks().next({ changes: async () => done, netlink: async () => done }))?.made;
}

test("WA-03: the end of a veth, which each repair makes, counts as no master; a bridge does", async () => {
  expect([await made("veth"), await made("ifb"), await made("bridge"), await made("")]).toEqual([false, false, true, true]);
});

test("a pod that changes its links all the time is told at growing pauses, at most one minute", () => {
  const lost = new LostLinks();
  const found: number[] = [];
  for (let nowMs = 0; found.length < 18;) {
    found.push(lost.tellingPauseMs("one", nowMs));
    nowMs += found.at(-1) ?? 0;
    lost.keep("one", "shop/web", new Map([["net1", gone(String(nowMs))]]), "now");
    lost.noteTold("one", nowMs);
  }
  expect(found.slice(9)).toEqual([0, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  lost.forget("one");
  expect([lost.tellingPauseMs("one", 0), lost.all]).toEqual([0, []]);
});
