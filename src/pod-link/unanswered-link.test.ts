import { expect, test } from "vitest";
import type { ShownLink } from "./link-identity.ts";
import { otherEnds, unansweredLink } from "./unanswered-link.ts";

const shown = (index: number, name: string, more: Partial<ShownLink> = {}): ShownLink => ({
  index,
  name,
  kind: "veth",
  mac: "02:00:00:00:00:01",
  link: undefined,
  linkNamespace: undefined,
  ...more,
});
const eth0 = shown(2, "eth0", { link: 20, linkNamespace: 0 });
const made = [{ name: "eth0", index: 2, kind: "veth", mac: eth0.mac, peer: 20 }];
const find = (fresh: readonly ShownLink[], nodeLinks: readonly ShownLink[] = [], of = made): number | undefined =>
  unansweredLink({ ifname: "net1", links: [eth0, ...fresh], fresh, made: of }, nodeLinks)?.index;

test("FI-15: the link that reaches the node is the failed ADD's, under any name", () => {
  const moved = shown(3, "moved", { link: 21, linkNamespace: 0 });
  const own = shown(4, "net1", { kind: "bridge" });
  expect(find([own, moved])).toBe(3);
  expect(find([own, shown(5, "sub0", { kind: "macvlan", link: 7, linkNamespace: 0 })])).toBe(5);
  expect(find([own, shown(6, "nic", { kind: "", parentDevice: {} })])).toBe(6);
});

test("FI-15: a link to a namespace of the pod's own is not the ADD's", () => {
  expect(find([shown(3, "net1", { link: 21, linkNamespace: 1 })])).toBeUndefined();
  expect(find([shown(3, "net1", { kind: "bridge" }), shown(4, "other", { link: 9 })])).toBeUndefined();
  // Without an earlier link of the node the other end on the node decides.
  const moved = shown(3, "moved", { link: 21, linkNamespace: 1 });
  expect(find([moved], [], [])).toBeUndefined();
  expect(find([moved], [shown(21, "veth21", { link: 3, linkNamespace: 5 })], [])).toBe(3);
  expect(find([moved], [shown(21, "veth21", { link: 8, linkNamespace: 5 })], [])).toBeUndefined();
  expect(otherEnds([moved, eth0, shown(8, "pair", { link: 9 })])).toEqual([21, 20]);
});

test("FI-15: of two links that reach the node the one with the attachment's name counts, else none", () => {
  const [first, second] = [shown(3, "a", { link: 21, linkNamespace: 0 }), shown(4, "b", { link: 22, linkNamespace: 0 })];
  expect(find([first, second])).toBeUndefined();
  expect(find([first, { ...second, name: "net1" }])).toBe(4);
});
