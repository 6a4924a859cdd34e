// CHANGES: the shim follows the links of its own network namespace between the engine's requests.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Done } from "../../../host/protocol/messages.ts";
import { EAGAIN } from "../../../host/system/errno.ts";
import { linkEventsIn } from "../../../host/system/netlink/link-event.ts";
import { createPodNamespace, type PodNamespace, missingPrivateNamespaces } from "../../lab/namespaces.ts";
import { missing } from "../../lab/requires.ts";
import { callWith, type EngineSide } from "./testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "./testing/workshop.ts";

const deadlineMs = 60_000;
const eventsOf = ({ reply }: Done): readonly string[] =>
  linkEventsIn(reply).map(({ kind, link }) => `${kind} ${link.name} ${link.up ? "up" : "down"}`);

describe.skipIf(missing("the shim's CHANGES", missingPrivateNamespaces))("CHANGES", () => {
  let shop: Workshop;
  let node: PodNamespace;
  beforeAll(async () => {
    shop = await openWorkshop();
    node = createPodNamespace("changes");
  });
  afterAll(() => {
    node.dispose();
    shop.dispose();
  });
  const run = (script: (engine: EngineSide) => Promise<void>): Promise<unknown> =>
    callWith(script, { shim: shop.shim, netns: node.path });
  const ip = (...words: readonly string[]): unknown => node.exec(["ip", "link", ...words]);

  test("WA-01: the first CHANGES begins to listen; later ones have what changed meanwhile, or wait for it", async () => {
    await run(async (engine) => {
      expect(await engine.changes({ deadlineMs })).toMatchObject({ errno: 0, sent: false });
      ip("add", "one", "type", "veth", "peer", "name", "two");
      ip("set", "one", "up");
      const changed = await engine.changes({ deadlineMs });
      expect(changed).toMatchObject({ errno: 0, sent: true });
      expect(eventsOf(changed)).toEqual(expect.arrayContaining(["changed one down", "changed one up"]));
      // Other effects are served during the wait; a second CHANGES is not.
      const channel = engine.newChannel();
      const waiting = engine.changes({ deadlineMs }, channel);
      expect(await engine.changes({ deadlineMs })).toMatchObject({ errno: EAGAIN });
      expect(await engine.find("nothing")).toMatchObject({ what: "nothing" });
      ip("del", "one");
      const events = [...eventsOf(await waiting)];
      while (!events.includes("gone one down")) events.push(...eventsOf(await engine.changes({ deadlineMs })));
      expect(events[0]).toBe("changed one down");
    });
  });

  test("without a change it ends at its time", async () => {
    await run(async (engine) => {
      await engine.changes({ deadlineMs });
      expect(await engine.changes({ deadlineMs: 20 })).toMatchObject({ errno: 0, sent: true, reply: new Uint8Array(0) });
    });
  });
});
