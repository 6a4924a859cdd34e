import { expect, test } from "vitest";
import { readResult } from "../cni/read-result.ts";
import type { CniResult } from "../cni/result.ts";
import { answeredInterface, answeredLink, nodeLinkNames } from "./new-link.ts";
import type { ShownLink } from "./link-identity.ts";
import { otherEnds, unansweredLink } from "./new-link.ts";

const link = (index: number, name: string, more: Partial<ShownLink> = {}): ShownLink => ({
  index,
  name,
  kind: "veth",
  mac: `02:00:00:00:00:0${index}`,
  link: 30 + index,
  linkNamespace: 0,
  ...more,
});
/** A link without another end, as a pod makes it. */
const dummy = (index: number, name: string, mac = `02:00:00:00:00:0${index}`): ShownLink =>
  link(index, name, { kind: "dummy", mac, link: undefined, linkNamespace: undefined });
const macvlan = (index: number, name: string): ShownLink => link(index, name, { kind: "macvlan", link: 2 });
/** The node's end of the pod's veth with this index. */
const nodeEnd = (of: number): ShownLink => link(30 + of, `veth${of}`, { link: of });

function result(interfaces: readonly object[]): CniResult {
  const read = readResult(JSON.stringify({ cniVersion: "1.0.0", interfaces }), "1.0.0");
  if (!read.ok) throw new Error(read.fault.msg);
  return read.value.result;
}
const net1 = { ifname: "net1", mac: "02:00:00:00:00:03" };

test("FI-15: the node's end of a veth tells the attachment's link from a link that the pod has given its name and its address", () => {
  const own = link(3, "moved", { mac: "02:00:00:00:00:99" });
  const foreign = dummy(4, "net1", net1.mac);
  expect(answeredLink([foreign, own], net1, [nodeEnd(3)])).toBe(own);
  // A veth to a namespace that the pod has made has another end.
  expect(answeredLink([link(4, "net1"), own], net1, [nodeEnd(3)])).toBe(own);
  // The pod has moved its link to another namespace.
  expect(answeredLink([foreign], net1, [nodeEnd(3)])).toBeUndefined();
});

test("FI-15: without an end on the node the hardware address decides, then the name", () => {
  const own = macvlan(3, "moved");
  const foreign = dummy(4, "net1");
  expect(answeredLink([foreign, own], net1, [])).toBe(own);
  expect(answeredLink([foreign, macvlan(3, "net1"), macvlan(5, "other")], { ...net1, mac: undefined }, [])).toBe(foreign);
  // Links of an ipvlan's master share its address.
  expect(
    answeredLink(
      [
        { ...own, index: 9 },
        { ...own, name: "net1" },
      ],
      net1,
      [],
    ),
  ).toMatchObject({ name: "net1" });
});

test("FI-15: a link with the name and another address counts only if the pod has not made it", () => {
  const changed = { ...macvlan(3, "net1"), mac: "02:00:00:00:00:99" };
  expect(answeredLink([dummy(4, "x"), changed], net1, [])).toBe(changed);
  expect(answeredLink([dummy(4, "net1"), dummy(5, "x")], net1, [])).toBeUndefined();
  expect(answeredLink([dummy(4, "net1")], net1, [])).toMatchObject({ index: 4 });
});

test("an answer names the node's links and the hardware address of the pod's", () => {
  const answer = result([
    { name: "br0", mac: "02:00:00:00:00:0A" },
    { name: "veth3", mac: "02:00:00:00:00:0B" },
    { name: "net1", mac: "02:00:00:00:00:0C", sandbox: "/run/netns/a" },
  ]);
  expect(nodeLinkNames(answer)).toEqual(["br0", "veth3"]);
  expect(answeredInterface(answer, "net1")).toEqual({ ifname: "net1", mac: "02:00:00:00:00:0c" });
  expect(answeredInterface(answer, "net2")).toEqual({ ifname: "net2", mac: undefined });
});

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
