// Resources that attachments share on the node: an apply that fails does not undo a change that another one uses.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createPodNamespace, type PodNamespace, missingPrivateNamespaces } from "../../../lab/namespaces.ts";
import { missing } from "../../../lab/requires.ts";
import type { LinksOperation } from "../../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import type { NetlinkEffect } from "../../../../host/protocol/shim.ts";
import { type LinkTests, openLinkTests } from "../../../../host/capabilities/links/testing/link-tests.ts";

const grant = { bridges: ["lt0"], forwarding: true };
const failing: LinksOperation = {
  tag: "add-route",
  val: { place: "pod", route: { dst: "10.99.0.0/16", gw: "203.0.113.1" }, onLink: false },
};

describe.skipIf(missing("shared", missingPrivateNamespaces))("if one of two concurrent applies fails", () => {
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

  /** Runs two applies. The first fails when the second has ended or is under way. */
  async function race(second: readonly LinksOperation[], until: "ended" | "under way"): Promise<readonly boolean[]> {
    const [one, two] = pods;
    const { promise: failingReached, resolve: reachFailing } = Promise.withResolvers<void>();
    const { promise: failingAllowed, resolve: allowFailing } = Promise.withResolvers<void>();
    const isRoute = ({ path, request }: NetlinkEffect): boolean => path === one.path && includesRoute(request);
    const failingSide = links.capability({
      pod: one,
      grant,
      intercept: (effect) => {
        if (!isRoute(effect)) return undefined;
        reachFailing();
        return failingAllowed.then(() => links.shim.netlink(effect));
      },
    });
    const failure = failingSide.capability.apply([...attach(2), failing]);
    await failingReached;
    let ended: Promise<unknown> = Promise.resolve();
    const succeedingSide = links.capability({
      pod: two,
      grant,
      intercept: (effect) => {
        if (until === "ended" || effect.path !== two.path || !includesRoute(effect.request)) return undefined;
        allowFailing();
        return ended.then(() => links.shim.netlink(effect));
      },
    });
    ended = failure;
    const success = succeedingSide.capability.apply([...second]);
    if (until === "ended") await success;
    allowFailing();
    return (await Promise.all([failure, success])).map((outcome) => "ok" in outcome);
  }

  test.each(["ended", "under way"] as const)(
    "the other, %s at that time, keeps its gateway, a bridge that is up, and forwarding",
    async (until) => {
      expect([forwarding(), gateways(), isUp()]).toEqual(["0", [], false]);
      expect(await race(attach(3), until)).toEqual([false, true]);
      expect([forwarding(), gateways(), isUp()]).toEqual(["1", ["10.78.0.1/24"], true]);
      expect(pods.map((pod) => pod.links().length)).toEqual([0, 1]);
      expect(pods[1].ping("10.78.0.1")).toBe(true);
    },
  );

  test("without another apply, all changes are undone", async () => {
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
