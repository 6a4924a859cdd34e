// What attachments share on the node: one that fails takes nothing back that another one counts on by then.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createPodNamespace, type PodNamespace, whyNotPrivate } from "../../test/harness/namespaces.ts";
import { missing } from "../../test/harness/requires.ts";
import type { LinksOperation } from "../sandbox/abi/generated/delegate-0.1.0.ts";
import type { NetlinkEffect } from "../hands/hands.ts";
import { type LinkTests, openLinkTests } from "./testing/link-tests.ts";

const grant = { bridges: ["lt0"], forwarding: true };
const failing: LinksOperation = {
  tag: "add-route",
  val: { place: "pod", route: { dst: "10.99.0.0/16", gw: "203.0.113.1" }, onLink: false },
};

describe.skipIf(missing("shared", whyNotPrivate))("of two applies at the same time, one fails", () => {
  let links: LinkTests;
  let pods: readonly [PodNamespace, PodNamespace];
  beforeEach(async () => {
    links = await openLinkTests();
    pods = [createPodNamespace("one"), createPodNamespace("two")];
    links.ip("link add lt0 type bridge");
  });
  afterEach(async () => {
    for (const pod of pods) pod.dispose();
    await links.dispose();
  });

  const attach = (number: number): LinksOperation[] => [
    ...links.attach(`10.78.0.${number}/24`, "10.78.0.1/24"),
    { tag: "enable-forwarding", val: "ipv4" },
  ];
  const forwarding = (): string => links.node.exec(["cat", "/proc/sys/net/ipv4/ip_forward"]).stdout.trim();
  const gateways = (): readonly string[] =>
    links.node.addresses().flatMap(({ link, address }) => (link === "lt0" && address.includes(".") ? [address] : []));
  const isUp = (): boolean => links.node.links().find(({ name }) => name === "lt0")?.up === true;

  /** The first one fails once the second one has got as far as `until`. */
  async function race(second: readonly LinksOperation[], until: "ended" | "under way"): Promise<readonly boolean[]> {
    const [one, two] = pods;
    const { promise: atFailing, resolve: entered } = Promise.withResolvers<void>();
    const { promise: may, resolve: goOn } = Promise.withResolvers<void>();
    const isRoute = ({ path, request }: NetlinkEffect): boolean => path === one.path && includesRoute(request);
    const slow = links.capability({
      pod: one,
      grant,
      instead: (effect) => {
        if (!isRoute(effect)) return undefined;
        entered();
        return may.then(() => links.hands.netlink(effect));
      },
    });
    const fails = slow.capability.apply([...attach(2), failing]);
    await atFailing;
    let ended: Promise<unknown> = Promise.resolve();
    const other = links.capability({
      pod: two,
      grant,
      instead: (effect) => {
        if (until === "ended" || effect.path !== two.path || !includesRoute(effect.request)) return undefined;
        goOn();
        return ended.then(() => links.hands.netlink(effect));
      },
    });
    ended = fails;
    const works = other.capability.apply([...second]);
    if (until === "ended") await works;
    goOn();
    return (await Promise.all([fails, works])).map((outcome) => "ok" in outcome);
  }

  test.each(["ended", "under way"] as const)(
    "and the other, %s by then, has its gateway, a bridge that is up, and a node that forwards",
    async (until) => {
      expect([forwarding(), gateways(), isUp()]).toEqual(["0", [], false]);
      expect(await race(attach(3), until)).toEqual([false, true]);
      expect([forwarding(), gateways(), isUp()]).toEqual(["1", ["10.78.0.1/24"], true]);
      expect(pods.map((pod) => pod.links().length)).toEqual([0, 1]);
      expect(pods[1].ping("10.78.0.1")).toBe(true);
    },
  );

  test("and where nobody else was there, all is taken back", async () => {
    const { capability } = links.capability({ pod: pods[0], grant });
    expect(await capability.apply([...attach(2), failing])).toMatchObject({ err: {} });
    expect([forwarding(), gateways(), isUp()]).toEqual(["0", [], false]);
  });
});

const RTM_NEWROUTE = 24;

function includesRoute(request: Uint8Array): boolean {
  const view = new DataView(request.buffer, request.byteOffset, request.byteLength);
  for (let at = 0; at + 16 <= request.length; at += (view.getUint32(at, true) + 3) & ~3)
    if (view.getUint16(at + 4, true) === RTM_NEWROUTE) return true;
  return false;
}
