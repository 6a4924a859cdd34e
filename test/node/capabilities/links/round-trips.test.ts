// The number of round trips to the shim that a delegate's requests take: each costs a tenth of a small delegate's ADD.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { routingFor } from "../../../../host/capabilities/routing/scope.ts";
import type { LinkShim } from "../../../../host/capabilities/links/apply.ts";
import { type LinkTests, openLinkTests } from "../../../../host/capabilities/links/testing/link-tests.ts";
import type { LinksOperation } from "../../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { createPodNamespace, type PodNamespace } from "../../../lab/namespaces.ts";
import { linkType, missing, privateNamespaces } from "../../../lab/requires.ts";

const eth0 = { place: "pod", name: "eth0" } as const;
const change = (mtu: number): LinksOperation => ({ tag: "change-link", val: { link: eth0, mtu, alternativeNames: [] } });

describe.skipIf(missing("round trips to the shim", privateNamespaces, linkType("veth")))("round trips to the shim", () => {
  let links: LinkTests;
  let pod: PodNamespace;
  let trips = 0;
  beforeEach(async () => {
    links = await openLinkTests();
    pod = createPodNamespace("trips");
    links.ip(`link add vethown type veth peer name eth0 netns ${pod.name}`);
    links.ip("address add 10.9.0.2/24 dev eth0", pod);
    links.ip("link set eth0 up", pod);
  });
  afterEach(async () => {
    pod.dispose();
    await links.dispose();
  });

  /** A shim that counts: effects that are asked for while another one is open belong to its round trip. */
  function counting(): LinkShim {
    let open = 0;
    const counted = async <T>(effect: () => Promise<T>): Promise<T> => {
      if (open === 0) trips++;
      open++;
      try {
        return await effect();
      } finally {
        open--;
      }
    };
    const { shim } = links;
    return {
      netlink: (effect) => counted(() => shim.netlink(effect)),
      sysctl: (effect) => counted(() => shim.sysctl(effect)),
      tap: (effect) => counted(() => shim.tap(effect)),
    };
  }
  const step = (grant = {}) => links.capability({ pod, shim: counting(), grant }).capability;
  async function tripsOf<T>(request: () => Promise<T>): Promise<readonly [number, T]> {
    const before = trips;
    const answer = await request();
    return [trips - before, answer] as const;
  }

  test("a read of a pod's link that this process has read before is one, with the same answer", async () => {
    const [first, before] = await tripsOf(() => step().read([eth0]));
    const [second, after] = await tripsOf(() => step().read([eth0]));
    expect([first, second]).toEqual([2, 1]);
    expect(after).toEqual(before);
    expect(links.valueOf(after)).toMatchObject([{ name: "eth0", peer: "vethown", addresses: [{ address: "10.9.0.2/24" }] }]);
  });

  test("a link that took the name of a remembered one is read as it is", async () => {
    links.valueOf(await step().read([eth0]));
    links.ip("link set eth0 down", pod);
    links.ip("link set eth0 name old", pod);
    links.ip(`link add vethnew type veth peer name eth0 netns ${pod.name}`);
    links.ip("address add 10.9.0.3/24 dev eth0", pod);
    const [again, answer] = await tripsOf(() => step().read([eth0]));
    expect(again).toBe(2);
    expect(links.valueOf(answer)).toMatchObject([{ peer: "vethnew", addresses: [{ address: "10.9.0.3/24" }] }]);
    links.ip("link delete eth0", pod);
    expect(links.valueOf(await step().read([eth0]))).toEqual([]);
  });

  test("an apply to a link that the delegate has just read is one, and the next one asks again", async () => {
    const capability = step();
    links.valueOf(await capability.read([eth0]));
    const [first, applied] = await tripsOf(() => capability.apply([change(1400)]));
    expect(links.valueOf(applied)).toMatchObject([{ name: "eth0", mtu: 1400 }]);
    const [second, again] = await tripsOf(() => capability.apply([change(1380)]));
    expect(links.valueOf(again)).toMatchObject([{ mtu: 1380 }]);
    expect([first, second]).toEqual([1, 2]);
  });

  test("the undo of an apply to a link that was read restores what was read", async () => {
    const capability = step();
    links.valueOf(await capability.read([eth0]));
    const taken: LinksOperation = { tag: "add-address", val: { link: eth0, address: "10.9.0.2/24", noDad: false } };
    expect(await capability.apply([change(1300), taken])).toMatchObject({ err: { msg: expect.stringContaining("add-address") } });
    expect(pod.links()).toMatchObject([{ name: "eth0", mtu: 1500 }]);
  });

  test("an apply to a link that is gone since the delegate read it is a fault, and changes nothing", async () => {
    const capability = step();
    links.valueOf(await capability.read([eth0]));
    links.ip("link delete eth0", pod);
    expect(await capability.apply([change(1400)])).toMatchObject({ err: { msg: expect.stringContaining("change-link") } });
  });

  test.skipIf(missing("round trips for a macvlan", linkType("macvlan")))("a macvlan with an address is three", async () => {
    links.ip("link add dev0 up type veth peer name dev0-e");
    links.ip("link set dev0-e up");
    const net1 = { place: "pod", name: "net1" } as const;
    const [made, answer] = await tripsOf(() =>
      step({ parents: ["dev0"], podLinks: ["net1"] }).apply([
        { tag: "add-macvlan", val: { name: "net1", parent: { place: "host", name: "dev0" }, mode: "bridge" } },
        { tag: "add-address", val: { link: net1, address: "10.8.0.2/24", noDad: false } },
        { tag: "change-link", val: { link: net1, up: true, alternativeNames: [] } },
      ]),
    );
    expect(links.valueOf(answer)).toMatchObject([{ name: "net1", kind: "macvlan", parent: "dev0", up: true }, { name: "dev0" }]);
    expect(made).toBe(3);
  });

  test("rules are added in one behind a search for free tables, beside an earlier rule that is equal", async () => {
    links.ip("rule add from 10.9.0.2 lookup 100", pod);
    const scope = { type: "sbr", verb: "ADD", hasPod: true, grant: {}, netns: pod.path } as const;
    const rule = { family: "ipv4", source: "10.9.0.2/32", table: 100 } as const;
    const routing = routingFor(scope, counting());
    const [searched, tables] = await tripsOf(() => routing.freeTables(1));
    expect([searched, tables]).toEqual([1, { ok: [101] }]);
    const [added, answer] = await tripsOf(() => routing.addRules("pod", [rule, { ...rule, source: "10.9.0.3/32" }]));
    expect([added, answer]).toEqual([1, { ok: undefined }]);
    // The rules have changed, so that they are listed again.
    const [again] = await tripsOf(() => routing.addRules("pod", [{ ...rule, source: "10.9.0.3/32" }]));
    expect(again).toBe(1);
    const rules = links.ip("-4 rule", pod).match(/from 10\S+ lookup \d+/gu) ?? [];
    expect(rules.toSorted()).toEqual(["from 10.9.0.2 lookup 100", "from 10.9.0.3 lookup 100"]);
  });
});
