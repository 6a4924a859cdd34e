import { expect, test } from "vitest";
import { withNodeMasters } from "./node-masters.ts";

const node = [
  { index: 7, name: "veth7", master: 4 },
  { index: 8, name: "veth8", master: undefined },
  { index: 4, name: "ovs-system", master: undefined },
];

const link = (kind: string, peer?: number) => ({
  name: "net1",
  index: 3,
  kind,
  mac: "",
  ...(peer === undefined ? {} : { peer }),
});

test("WA-02: a veth gets the master of its end on the node, and a link of another kind none, whatever is below it", async () => {
  const links = [link("veth", 7), link("veth", 8), link("macvlan", 7), link("veth", 9), link("dummy")];
  const asked: number[][] = [];
  const found = await withNodeMasters(links, async ({ indexes }) => {
    asked.push([...indexes]);
    return node.filter(({ index }) => indexes.includes(index));
  });
  expect(found).toEqual([{ ...links[0], nodeMaster: "ovs-system" }, ...links.slice(1)]);
  expect(asked).toEqual([[7, 8, 9], [4]]);
});
