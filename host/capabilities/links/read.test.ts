import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { ENOENT } from "../../system/errno.ts";
import { LinkAliases } from "./link-aliases.ts";
import { routes } from "./read.ts";

const unused = (): Promise<never> => Promise.reject(new Error("not asked for"));

test("the link and the routes of both families are one round trip to the shim", async () => {
  let open = 0;
  let mostAtOnce = 0;
  let asked = 0;
  const netlink = async () => {
    asked++;
    mostAtOnce = Math.max(mostAtOnce, ++open);
    await setImmediate();
    open--;
    return { kind: "done", errno: ENOENT, sent: false, reply: new Uint8Array(0) } as const;
  };
  const attachment = { ifname: "net1", netns: "/run/netns/gone" };
  const scope = { type: "sbr", verb: "ADD", grant: {}, attachment, aliases: new LinkAliases(), readLinks: new Map() } as const;
  const listed = await routes(scope, { netlink, sysctl: unused, tap: unused }, { place: "pod", name: "net1" });
  expect(listed).toMatchObject({ ok: false, fault: { kind: "NETLINK_FAILED" } });
  expect([asked, mostAtOnce]).toEqual([3, 3]);
});
