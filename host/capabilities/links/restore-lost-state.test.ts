import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { ENOENT } from "../../system/errno.ts";
import type { LinkState } from "../../system/netlink/link-state.ts";
import { EffectQueue } from "./effect-queue.ts";
import { LinkAliases } from "./link-aliases.ts";
import { LinkTransaction } from "./link-transaction.ts";
import { Namespaces } from "./namespaces.ts";
import { undosOfLostState } from "./restore-lost-state.ts";
import { Settings } from "./settings.ts";

test("what a link loses is read in one round trip to the shim: its addresses, and both families' routes and neighbours", async () => {
  let open = 0;
  let mostAtOnce = 0;
  let asked = 0;
  const answer = async () => {
    asked++;
    mostAtOnce = Math.max(mostAtOnce, ++open);
    await setImmediate();
    open--;
    return { kind: "done", errno: ENOENT, sent: false, reply: new Uint8Array(0) } as const;
  };
  const shim = { netlink: answer, sysctl: answer, tap: answer };
  const attachment = { ifname: "net1", netns: "/run/netns/gone" };
  const aliases = new LinkAliases();
  const scope = { type: "loopback", verb: "ADD", grant: {}, attachment, aliases } as const;
  const namespaces = new Namespaces(shim, attachment.netns);
  const effects = new EffectQueue(namespaces);
  const transaction = new LinkTransaction(scope, namespaces, effects, new Settings(shim, attachment.netns), aliases);
  const state = { index: 2, name: "net1", up: false, mtu: 1500, mac: "02:00:00:00:00:01" } as LinkState;
  const link = { place: "pod", name: "net1", index: 2, state, isNew: false } as const;
  const undos = await undosOfLostState(transaction, link, state, { up: true });
  expect(undos).toMatchObject({ ok: false });
  expect([asked, mostAtOnce]).toEqual([5, 5]);
});
