import { expect, test } from "vitest";
import { lostLinks, type NodeLink } from "./lost-links.ts";

const link = (index: number, name: string, kind: string, master?: number): NodeLink => ({
  index,
  name,
  kind,
  mac: "",
  alternativeNames: [`${name}-alternative`],
  link: undefined,
  linkNamespace: undefined,
  master,
});
const made = { name: "eth0", index: 2, kind: "veth", mac: "", peer: 7 };
const bridged = { made, nodeLinks: ["br0", "veth7"] };
const whole = [link(5, "br0", "bridge"), link(7, "veth7", "veth", 5), link(9, "up0", "")];

test("FI-26: a whole attachment has lost nothing", () => {
  expect(lostLinks(bridged, whole)).toEqual([]);
  expect(lostLinks({ made, nodeLinks: ["br0-alternative", "veth7"] }, whole)).toEqual([]);
  expect(lostLinks({ made: { ...made, kind: "macvlan", peer: 9 }, nodeLinks: [] }, whole)).toEqual([]);
});

test("FI-26: a bridge that is gone, or was made anew, is lost", () => {
  expect(lostLinks(bridged, [link(7, "veth7", "veth")])).toEqual(["link br0 of the node is gone"]);
  expect(lostLinks(bridged, [link(11, "br0", "bridge"), link(7, "veth7", "veth")])).toEqual(["veth7 is no port of bridge br0"]);
});

test("FI-26: a veth's end and a macvlan's master are lost, also when another link has the name", () => {
  expect(lostLinks(bridged, [link(5, "br0", "bridge")])).toEqual(["link veth7 of the node is gone"]);
  expect(lostLinks(bridged, [link(5, "br0", "bridge"), link(8, "veth7", "veth", 5)])).toEqual([
    "its veth's end on the node (link 7) is gone",
  ]);
  const macvlan = { made: { ...made, kind: "macvlan", peer: 3 }, nodeLinks: [] };
  expect(lostLinks(macvlan, whole)).toEqual(["the node's link 3 below it is gone"]);
});

test("nothing is lost that is unknown: an entry without a record of its links, a link without another end, a veth between two pods", () => {
  expect(lostLinks({ made: undefined, nodeLinks: ["br0"] }, [])).toEqual([]);
  expect(lostLinks({ made: { name: "net1", index: 2, kind: "", mac: "" }, nodeLinks: [] }, [])).toEqual([]);
  expect(lostLinks({ made, nodeLinks: [] }, [])).toEqual([]);
});
